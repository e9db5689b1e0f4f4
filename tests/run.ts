// Runs the tests on real databases and ends with a line "N passed, N failed".
//   node tests/run.ts [--changed] [--slow] [--watch] [pattern …]
// Test files share processes, and what tests/runner/shared-parts.ts starts for them. tests/runner/tiers.ts says which file is in which tier.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { exitWithUsage, readArguments } from "@ehr-marketplace/dev/command-line";
import { watchSources } from "@ehr-marketplace/dev/watch-sources";
import { affectedBy, findChangedFiles } from "./runner/changed-files.ts";
import { type FileList, type Result, runFiles } from "./runner/run-files.ts";
import { serveSharedParts } from "./runner/shared-parts.ts";
import {
  findDoingMore,
  findFiles,
  gatePostgres,
  onOtherPostgres,
  type PostgresVersion,
  readTiers,
  workspaces,
} from "./runner/tiers.ts";

const usage = `Usage: npm test -- [--changed] [pattern …]
       npm run test:slow -- [pattern …]
       npm run test:watch -- pattern …

Runs the tests on temporary clusters of PostgreSQL. npm test is the gate, which every change has to pass. npm run test:slow runs the
rest: files named *.slow.test.ts, files with rounds with all of their rounds, and the database files on the other version of
PostgreSQL. A pattern is a path or a quoted glob of test files of either tier; without one, all files of the tier run.

  --changed  run the files of the gate that import what differs from the main branch, or all of them after a change of
             SQL, JSON or a lock file
  --slow     run the slow tier; test:slow sets it
  --watch    run the named files now and after each change of a source file; test:watch sets it
  --help     print this text

Examples:
  npm test
  npm test -- --changed
  npm test -- services/marketplace/src/search/search-apps.test.ts
  npm test -- 'packages/service-kit/**/*.test.ts'
  npm run test:watch -- services/marketplace/src/search/search-apps.test.ts
  npm run test:slow -- 'tests/keycloak/*.test.ts'`;

const flag = { type: "boolean", default: false } as const;
const { values, positionals } = readArguments(usage, {
  allowPositionals: true,
  options: { changed: flag, slow: flag, watch: flag },
});
if (values.watch && positionals.length === 0) exitWithUsage("Name the files to watch.", usage);
if (values.changed && positionals.length > 0) exitWithUsage("Use either --changed or patterns.", usage);
if (values.changed && values.slow) exitWithUsage("Use either --changed or --slow.", usage);
for (const pattern of positionals) {
  const matches = await findFiles([pattern]);
  const otherFile = matches.find((file) => !file.endsWith(".test.ts"));
  if (matches.length > 0 && otherFile === undefined) continue;
  const reason = otherFile === undefined ? `No file matches ${pattern}.` : `${otherFile} is no test file (*.test.ts).`;
  console.error(`${reason} Patterns are relative to the folder of the repository.`);
  process.exit(1);
}

/** Ends the run: its processes are killed, and what they share is stopped. */
const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stopping.abort());

const concurrency = 4;
/** Of some fifteen processes, none runs much longer than the others, and loading modules takes little of their time. */
const filesPerProcess = 30;

/** Lists of files on the same PostgreSQL. Neighbours, which often take equally long, are in different lists. */
function makeLists(
  files: string[],
  postgresOf: (file: string) => PostgresVersion,
  { perList = filesPerProcess, hasAllRounds = false } = {},
): FileList[] {
  const byVersion = Object.entries(Object.groupBy(files, postgresOf)) as [PostgresVersion, string[]][];
  return byVersion.flatMap(([postgres, chosen]) => {
    const count = Math.ceil(chosen.length / perList);
    return Array.from({ length: count }, (_, nth) => ({
      postgres,
      hasAllRounds,
      files: chosen.filter((_file, index) => index % count === nth),
    }));
  });
}

async function runGate(): Promise<Result[]> {
  const { gate } = await readTiers();
  return [await runFiles(makeLists(gate, gatePostgres), concurrency, stopping.signal)];
}

/** The files of the slow tier, or those of them that are named. */
async function runSlowTier(named: string[]): Promise<Result[]> {
  const tiers = await readTiers();
  const chosen = (files: string[]): string[] =>
    named.length === 0 ? files : files.filter((file) => named.includes(file));
  const repeated = makeLists(chosen(onOtherPostgres(tiers)), () => "newest");
  // One file at a time, because they measure.
  const measuring = makeLists(chosen([...tiers.slow, ...findDoingMore(tiers.gate)]), gatePostgres, {
    perList: 1,
    hasAllRounds: true,
  });
  const results: Result[] = [];
  if (repeated.length > 0) results.push(await runFiles(repeated, concurrency, stopping.signal));
  if (measuring.length > 0) results.push(await runFiles(measuring, 1, stopping.signal));
  if (results.length === 0) console.error("None of these files is in the slow tier, or does more there.");
  return results;
}

async function runChanged(): Promise<Result[]> {
  const { gate } = await readTiers();
  const changed = findChangedFiles();
  const files = affectedBy(changed, gate);
  console.log(`${changed.length} files have changed, which concern ${files.length} of ${gate.length} test files.`);
  return [await runFiles(makeLists(files, gatePostgres), concurrency, stopping.signal)];
}

async function runNamed(): Promise<Result[]> {
  const lists = makeLists(await findFiles(positionals), gatePostgres);
  return [await runFiles(lists, concurrency, stopping.signal)];
}

/** Runs the files now and whenever a source file changes. Ends with Ctrl+C. */
async function watchNamed(): Promise<void> {
  const sources = watchSources(workspaces, () => false);
  const stopped = once(stopping.signal, "abort");
  while (!stopping.signal.aborted) {
    const change = sources.nextChange();
    await Promise.race([stopped, runNamed().then(() => change)]);
    parts.forgetBuilt();
  }
}

/** Ends the run if a service can't be built: most tests would fail because of it, and few of them would show the reason. */
async function checkServices(): Promise<void> {
  const check = new URL("./runner/check-services.process.ts", import.meta.url).pathname;
  const [code] = await once(spawn(process.execPath, [check], { stdio: "inherit" }), "exit");
  if (code === 0) return;
  console.error("\nNo test has run, because most of them would fail for this reason. Correct it, and run them again.");
  console.log("0 passed, 1 failed");
  process.exit(1);
}

// Dozens of processes load the same modules: share compiled code through the compile cache.
process.env["NODE_COMPILE_CACHE"] ??= new URL("../node_modules/.cache/compiled", import.meta.url).pathname;
const isSingle = (await findFiles(positionals)).length === 1;
if (!isSingle) await checkServices();
const parts = await serveSharedParts();
Object.assign(process.env, parts.environment);

/** Runs what the arguments choose, prints how many tests passed, and returns whether all of them did. */
async function runChosen(): Promise<boolean> {
  const run = positionals.length > 0 ? runNamed : values.changed ? runChanged : runGate;
  const results = await (values.slow ? runSlowTier(await findFiles(positionals)) : run());
  const [passed, failed] = (["passed", "failed"] as const).map((key) =>
    results.reduce((sum, each) => sum + each[key], 0),
  );
  console.log(stopping.signal.aborted ? "Stopped." : `${passed} passed, ${failed} failed`);
  return failed === 0 && !stopping.signal.aborted && results.length > 0 && results.every((each) => each.passed > 0);
}

let hasPassed = true;
try {
  if (values.watch) await watchNamed();
  else hasPassed = await runChosen();
} finally {
  await parts.stop();
}
// Watchers of files would keep it running.
process.exit(hasPassed ? 0 : 1);
