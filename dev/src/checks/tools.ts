export interface Tool {
  purpose: string;
  /** Words are separated by spaces. The paths that the caller names are added to the last command. */
  commands: string[];
  /** Variables that the commands need beside those of the caller. */
  environment?: Record<string, string>;
  /** Without paths, the tool works on the whole repository. */
  takesPaths?: boolean;
  /** The tool's own options are listed by this command. */
  ownHelp: string;
}

/** Checks run beside each other, one per core. Tools in Go take twice the CPU time with several threads and frequent collections. */
const oneThread = { GOMAXPROCS: "1", GOGC: "400" };

/** The scripts of package.json that run a tool of others. */
export const tools: Record<string, Tool> = {
  "check:types": {
    purpose: "Checks types with TypeScript.",
    commands: [
      "tsc --singleThreaded --project tsconfig.json --incremental --tsBuildInfoFile node_modules/.cache/tsconfig.tsbuildinfo",
      "tsc --singleThreaded --project services/web/src/islands/tsconfig.json",
      "tsc --singleThreaded --project services/web/src/console/tsconfig.json",
    ],
    environment: oneThread,
    ownHelp: "npx tsc --help",
  },
  "check:format": {
    purpose: 'Checks the format of all files with Biome. "npm run format" corrects it.',
    commands: ["biome check --error-on-warnings"],
    takesPaths: true,
    ownHelp: "npx biome check --help",
  },
  "check:lint": {
    purpose: "Lints with oxlint.",
    commands: ["oxlint --type-aware --deny-warnings --threads=1"],
    environment: oneThread,
    takesPaths: true,
    ownHelp: "npx oxlint --help",
  },
  "check:boundaries": {
    purpose: "Checks the dependency rules of ARCHITECTURE.md with dependency-cruiser.",
    commands: ["depcruise --config .dependency-cruiser.js packages services dev bench tests"],
    ownHelp: "npx depcruise --help",
  },
  "check:migrations": {
    purpose:
      "Checks with squawk (.squawk.toml) that new migrations don't lock tables for long, and don't break processes of the previous version.",
    commands: ["squawk services/*/migrations/*.sql"],
    ownHelp: "npx squawk --help",
  },
  "check:unused": {
    purpose: "Finds unused files, exports and dependencies with Knip.",
    commands: ["knip"],
    ownHelp: "npx knip --help",
  },
  format: {
    purpose: "Formats files with Biome.",
    commands: ["biome check --write"],
    takesPaths: true,
    ownHelp: "npx biome check --help",
  },
  "setup:schemathesis": {
    purpose:
      "Installs Schemathesis in .venv, for tests/journeys/schemathesis-*.test.ts, which do so themselves. Needs python3 with venv.",
    commands: ["python3 -m venv .venv", ".venv/bin/pip install --quiet --no-compile schemathesis==4.32.5"],
    ownHelp: ".venv/bin/schemathesis --help",
  },
  "setup:versitygw": {
    purpose:
      "Builds VersityGW, an S3-compatible server, in .tools/bin, for tests of the bucket of media. Needs Go 1.25 or newer.",
    commands: ["go install github.com/versity/versitygw/cmd/versitygw@v1.8.0"],
    environment: { GOBIN: new URL("../../../.tools/bin", import.meta.url).pathname },
    ownHelp: ".tools/bin/versitygw --help",
  },
  "setup:keycloak": {
    purpose:
      "Fetches Keycloak with Maven, checks its checksum, and unpacks it in .tools, for npm run test:slow -- 'tests/keycloak/*.test.ts'. Needs Maven, Java 17 or newer, and unzip.",
    commands: [
      "mvn --batch-mode --quiet org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy -Dartifact=org.keycloak:keycloak-quarkus-dist:26.4.0:zip -DoutputDirectory=.tools",
      "sha256sum --check --quiet dev/src/keycloak/keycloak-26.4.0.sha256",
      "unzip -q -o .tools/keycloak-quarkus-dist-26.4.0.zip -d .tools",
      "rm .tools/keycloak-quarkus-dist-26.4.0.zip",
    ],
    ownHelp: ".tools/keycloak-26.4.0/bin/kc.sh --help",
  },
  "setup:lighthouse": {
    purpose: "Installs Lighthouse in bench/lighthouse, for npm run bench -- web. Needs Chromium when it runs.",
    commands: ["npm ci --prefix bench/lighthouse --no-audit --no-fund"],
    ownHelp: "npx node bench/lighthouse/node_modules/lighthouse/cli/index.js --help",
  },
};
