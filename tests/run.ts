// Runs the tests on real databases and ends with a line "N passed, N failed".
//   node tests/run.ts [--postgres-15-too] [--all-rounds] [--keycloak] [--watch] [pattern …]
// The pages of the web are built first. Each file clones its databases from templates that are migrated once per run; all files share
// one identity provider. With --all-rounds, tests with rounds run all of them, and the files run sequentially, because they measure
// under load. With --keycloak, those of tests/keycloak run, which share one Keycloak.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { glob, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "node:test";
import { exitWithUsage, readArguments } from "@ehr-marketplace/dev/command-line";
import { demoOrganisations, insertEhrOrganisations, loadDemoData } from "@ehr-marketplace/dev/demo-data";
import { startIdentityProvider } from "@ehr-marketplace/dev/identity-provider";
import { type Keycloak, startKeycloak } from "@ehr-marketplace/dev/keycloak";
import {
  prepareEhrDatabase,
  prepareMarketplaceDatabase,
  prepareWebDatabase,
  startCluster,
  startDebianCluster,
} from "@ehr-marketplace/dev/postgres";
import { watchSources } from "@ehr-marketplace/dev/watch-sources";
import { durationOf, longestFirst, readDurations, sumOf, writeDurations } from "./durations.ts";
import { failureList } from "./failures.ts";
import { excludedOnOldestPostgres, oldestPostgresTests } from "./oldest-postgres.ts";
import { startText } from "./progress.ts";
import { reportText } from "./report-text.ts";
import { type Counts, currentProgress, runFiles, type Session } from "./run-files.ts";
import { demoSettings, templates } from "./support/templates.ts";

const workspaces = ["packages", "services", "dev", "bench", "tests"];
const allTests = workspaces.map((folder) => `${folder}/**/*.test.ts`);
const keycloakTests = "tests/keycloak/*.test.ts";
const concurrency = 4;
/** Generous, because machines may be busy; it only ends a file that hangs. Each test's own limits are shorter. */
const fileTimeoutMs = 1_800_000;

// Hundreds of processes load the same modules: share compiled code through the compile cache.
process.env["NODE_COMPILE_CACHE"] ??= new URL("../node_modules/.cache/compiled", import.meta.url).pathname;

interface Databases {
  url: string;
  stop(): Promise<void>;
}

async function startNewestPostgres(): Promise<Databases> {
  const directory = await mkdtemp(join(tmpdir(), "ehr-marketplace-tests-"));
  const settings = { fsync: "off", synchronous_commit: "off", full_page_writes: "off" };
  return startCluster({ directory, throwaway: true, settings });
}

async function prepareTemplates(databases: Databases): Promise<void> {
  await prepareMarketplaceDatabase(databases.url, templates.empty.database);
  const demo = await prepareMarketplaceDatabase(databases.url, templates.demo.database);
  await loadDemoData(demo.ownerUrl, demoSettings);
  const ehr = await prepareEhrDatabase(databases.url, templates.ehr.database);
  await insertEhrOrganisations(ehr.ownerUrl, demoOrganisations);
  await prepareWebDatabase(databases.url, templates.web.database);
  process.env["TEST_CLUSTER_URL"] = databases.url;
  process.env["TEST_TEMPLATES"] = JSON.stringify(templates);
}

/** Stops the databases afterwards. */
async function withTemplates<T>(databases: Databases, work: () => Promise<T>): Promise<T> {
  // For the files of the demo apps. Every marketplace of a test uses this folder, unless the test names another one.
  const media = await mkdtemp(join(tmpdir(), "ehr-marketplace-media-"));
  process.env["MEDIA_DIRECTORY"] = media;
  try {
    await prepareTemplates(databases);
    return await work();
  } finally {
    await databases.stop();
    await rm(media, { recursive: true, force: true });
  }
}

const runTests = (databases: Databases, files: string[], session: Session): Promise<Counts> =>
  withTemplates(databases, async () => {
    const counts: Counts = { passed: 0, failed: 0 };
    if (!session.isSequential) await runFiles(files, { concurrency, timeout: fileTimeoutMs }, counts, session);
    for (const file of session.isSequential ? files : []) {
      console.log(`\n${currentProgress(session)} ${file}`);
      await runFiles([file], { concurrency: 1, timeout: fileTimeoutMs }, counts, session);
    }
    return counts;
  });

/** Runs the files now and whenever a source file changes. Ends with Ctrl+C. */
async function watchFiles(databases: Databases, files: string[]): Promise<never> {
  const sources = watchSources(workspaces, () => false);
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stopping.abort());
  const stopped = once(stopping.signal, "abort");
  await withTemplates(databases, async () => {
    while (!stopping.signal.aborted) {
      const change = sources.nextChange();
      const reported = reportText(run({ files, concurrency, timeout: fileTimeoutMs }));
      reported.pipe(process.stdout, { end: false });
      await Promise.race([stopped, once(reported, "end").then(() => change)]);
    }
  });
  return process.exit(0);
}

/** Ends the run if a service can't be built: most tests would fail because of it, and few of them would show the reason. */
async function checkServices(): Promise<void> {
  const preflight = new URL("preflight.process.ts", import.meta.url).pathname;
  const [code] = await once(spawn(process.execPath, [preflight], { stdio: "inherit" }), "exit");
  if (code === 0) return;
  console.error("\nNo test has run, because most of them would fail for this reason. Correct it, and run them again.");
  console.log("0 passed, 1 failed");
  process.exit(1);
}

/** Ends the run if Keycloak can't be started, so that its tests never pass without it. */
async function startSharedKeycloak(): Promise<Keycloak> {
  console.log("Starting Keycloak. It takes half a minute, and up to 15 minutes on a busy machine …");
  const keycloak = await startKeycloak().catch((error: Error) => {
    console.error(error.message);
    console.log("0 passed, 1 failed");
    return process.exit(1);
  });
  const { url, clientId, clientSecret } = keycloak;
  process.env["TEST_KEYCLOAK"] = JSON.stringify({ url, clientId, clientSecret });
  return keycloak;
}

/** Selects the fault tests, and all other tests that do more in a full run. */
async function selectFilesWithRounds(files: string[]): Promise<string[]> {
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  return files.filter((file, nth) => file.startsWith("tests/faults/") || /rounds\(|isFullRun/.test(texts[nth] ?? ""));
}

const findFiles = async (patterns: string[], exclude = ["**/node_modules/**"]): Promise<string[]> =>
  (await Array.fromAsync(glob(patterns, { exclude }))).toSorted();

const usage = `Usage: npm test -- [options] [pattern …]
       npm run test:faults -- [options] [pattern …]
       npm run test:keycloak -- [pattern …]
       npm run test:watch -- pattern …

Runs the tests on a temporary PostgreSQL. A pattern is a path or a quoted glob of test files; without one, all of them
run, except for those of tests/keycloak, which need "npm run setup:keycloak" and test:keycloak.

  --postgres-15-too  also run the tests that depend on the database on PostgreSQL 15
  --all-rounds       run all rounds of tests that have rounds, one file after another; test:faults sets it
  --keycloak         start Keycloak, and run the tests of tests/keycloak; test:keycloak sets it
  --watch            run the named files now and after each change of a source file; test:watch sets it
  --help             print this text

Examples:
  npm test
  npm test -- services/marketplace/src/search/search-apps.test.ts
  npm test -- 'packages/service-kit/**/*.test.ts'
  npm run test:watch -- services/marketplace/src/search/search-apps.test.ts
  npm run test:faults -- tests/faults/shared-host-outage.test.ts
  npm run test:keycloak`;

const flag = { type: "boolean", default: false } as const;
const { values, positionals } = readArguments(usage, {
  allowPositionals: true,
  options: { "postgres-15-too": flag, "all-rounds": flag, keycloak: flag, watch: flag },
});
if (values.watch && positionals.length === 0) exitWithUsage("Name the files to watch.", usage);
for (const pattern of positionals) {
  const matches = await findFiles([pattern]);
  const otherFile = matches.find((file) => !file.endsWith(".test.ts"));
  if (matches.length > 0 && otherFile === undefined) continue;
  const reason = otherFile === undefined ? `No file matches ${pattern}.` : `${otherFile} is no test file (*.test.ts).`;
  console.error(`${reason} Patterns are relative to the folder of the repository.`);
  process.exit(1);
}
const allRounds = values["all-rounds"];
if (allRounds) process.env["FAULT_ROUNDS"] = "full";
const isSequential = allRounds || values.keycloak;
const files = await (positionals.length > 0
  ? findFiles(positionals)
  : values.keycloak
    ? findFiles([keycloakTests])
    : findFiles(allTests, ["**/node_modules/**", keycloakTests]));
const chosen = allRounds && positionals.length === 0 ? await selectFilesWithRounds(files) : files;
if (chosen.some((file) => /^(services\/web|tests|dev|bench)\//.test(file))) {
  const { buildPages } = await import("@ehr-marketplace/web/build");
  await buildPages();
}
// A single file reports the reason itself, and tests of packages don't need the services.
if (chosen.length > 1 && chosen.some((file) => /^(services|tests)\//.test(file))) await checkServices();
const keycloak = values.keycloak ? await startSharedKeycloak() : undefined;
const identityProvider = await startIdentityProvider({ port: 0 });
const { issuer, jwksUrl, keys } = identityProvider;
process.env["TEST_IDENTITY_PROVIDER"] = JSON.stringify({ issuer, jwksUrl, keys });
if (values.watch) await watchFiles(await startNewestPostgres(), chosen);

const oldestPostgresFiles = values["postgres-15-too"]
  ? await findFiles(oldestPostgresTests, excludedOnOldestPostgres)
  : [];
const cache = new URL(`../node_modules/.cache/test-durations${allRounds ? "-all-rounds" : ""}.json`, import.meta.url);
const knownDurations = await readDurations(cache);
const totalMs = sumOf([...chosen, ...oldestPostgresFiles], knownDurations);
const durations = { ...knownDurations };
const session: Session = {
  isSequential,
  failures: [],
  runs: 0,
  progress: {
    files: chosen.length + oldestPostgresFiles.length,
    finishedFiles: 0,
    failedTests: 0,
    elapsedMs: 0,
    estimateMs: totalMs / (isSequential ? 1 : concurrency),
    finishedShare: 0,
  },
  onFileEnd(file, durationMs) {
    durations[file] = Math.round(durationMs);
    this.progress.finishedFiles += 1;
    this.progress.finishedShare += durationOf(file, knownDurations) / totalMs;
  },
};
console.log(startText(session.progress.files, session.progress.estimateMs));
const newest = await runTests(await startNewestPostgres(), longestFirst(chosen, knownDurations), session);
const oldest =
  oldestPostgresFiles.length > 0
    ? await runTests(await startDebianCluster(), longestFirst(oldestPostgresFiles, durations), session)
    : { passed: 0, failed: 0 };
await writeDurations(cache, durations);
await identityProvider.stop();
await keycloak?.stop();

const passed = newest.passed + oldest.passed;
const failed = newest.failed + oldest.failed;
// After a single run, the reporter has just printed the same.
if (failed > 0 && session.runs > 1) console.log(`\n${failureList(session.failures)}`);
console.log(`${passed} passed, ${failed} failed`);
const hasRun = newest.passed > 0 && (oldest.passed > 0 || !values["postgres-15-too"]);
process.exitCode = failed === 0 && hasRun ? 0 : 1;
