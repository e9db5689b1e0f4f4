// Runs the tests on real databases and ends with a line "N passed, N failed".
//   node tests/run.ts [--postgres-15-too] [--all-rounds] [pattern …]
// Each file gets databases of its own, cloned from templates that are migrated once per run. With --all-rounds, tests that repeat
// themselves do so as often as closing an issue takes, and their files run one after another: they measure under load.
import { glob, mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { parseArgs } from "node:util";
import { demoOrganisations, insertEhrOrganisations, loadDemoData } from "@ehr-marketplace/dev/demo-data";
import {
  prepareEhrDatabase,
  prepareMarketplaceDatabase,
  startCluster,
  startDebianCluster,
} from "@ehr-marketplace/dev/postgres";
import { demoPlaces, templates } from "./support/templates.ts";

const everything = ["packages/**/*.test.ts", "services/**/*.test.ts", "dev/**/*.test.ts", "tests/**/*.test.ts"];
const whatTheDatabaseDecides = ["services/**/*.test.ts", "packages/service-kit/src/database/*.test.ts"];
// They take long, and another major of PostgreSQL changes nothing about them.
const notOnTheOldest = [
  "**/node_modules/**",
  "**/webhooks/delivery/send/**",
  "**/{lane-races,shuffled-events,config-secrecy,launch-privacy,answers-under-strain}.test.ts",
  "**/{endpoint-name,callback-name,long-outage,recover-due,worker-app}.test.ts",
];
const fileTimeoutMs = 300_000;
/** With all rounds, tests limit themselves by their number of rounds (`timeLimitMs`); this ends a file that hangs. */
const longestFileMs = 1_800_000;

// Hundreds of processes load the same modules: what one has stripped of types and compiled, the others take over.
process.env["NODE_COMPILE_CACHE"] ??= new URL("../node_modules/.cache/compiled", import.meta.url).pathname;

interface Databases {
  url: string;
  stop(): Promise<void>;
}

async function newestPostgres(): Promise<Databases> {
  const directory = await mkdtemp(join(tmpdir(), "ehr-marketplace-tests-"));
  const settings = { fsync: "off", synchronous_commit: "off", full_page_writes: "off" };
  return startCluster({ directory, throwaway: true, settings });
}

interface Counts {
  passed: number;
  failed: number;
}

async function runTests(databases: Databases, files: string[], oneByOne: boolean): Promise<Counts> {
  const counts: Counts = { passed: 0, failed: 0 };
  try {
    await prepareMarketplaceDatabase(databases.url, templates.empty.database);
    const demo = await prepareMarketplaceDatabase(databases.url, templates.demo.database);
    await loadDemoData(demo.ownerUrl, demoPlaces);
    const ehr = await prepareEhrDatabase(databases.url, templates.ehr.database);
    await insertEhrOrganisations(ehr.ownerUrl, demoOrganisations);
    process.env["TEST_CLUSTER_URL"] = databases.url;

    if (!oneByOne) await runFiles(files, { concurrency: 4, timeout: fileTimeoutMs }, counts);
    for (const [nth, file] of oneByOne ? files.entries() : []) {
      const minutes = Math.floor(performance.now() / 60_000);
      console.log(`\n[${nth + 1}/${files.length}, ${minutes} min, ${counts.failed} failed] ${file}`);
      await runFiles([file], { concurrency: 1, timeout: longestFileMs }, counts);
    }
  } finally {
    await databases.stop();
  }
  return counts;
}

async function runFiles(
  files: string[],
  limits: { concurrency: number; timeout: number },
  counts: Counts,
): Promise<void> {
  const stream = run({ files, ...limits });
  // A file whose process doesn't end is not ended by the time-out of its tests.
  const watchdog = setTimeout(() => {
    console.error("No test has reported for minutes: the process of a test file doesn't end.");
    process.exit(1);
  }, 2 * limits.timeout);
  stream.on("data", () => watchdog.refresh());
  stream.on("test:pass", (test) => {
    if (test.details.type !== "suite" && test.skip === undefined && test.todo === undefined) counts.passed += 1;
  });
  stream.on("test:fail", (test) => {
    // A suite fails with its tests, which are counted themselves; one whose hook fails has nobody else to count it.
    const { failureType } = test.details.error as { failureType?: string };
    if (test.details.type !== "suite" || failureType !== "subtestsFailed") counts.failed += 1;
  });
  const reported = stream.compose(spec);
  reported.pipe(process.stdout, { end: false });
  await new Promise((resolve) => reported.on("end", resolve));
  clearTimeout(watchdog);
}

/** Faults, and whatever else repeats itself as often as it is told. */
async function filesWithRounds(files: string[]): Promise<string[]> {
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  return files.filter((file, nth) => file.startsWith("tests/faults/") || texts[nth]?.includes("rounds("));
}

const filesOf = async (patterns: string[], exclude = ["**/node_modules/**"]): Promise<string[]> =>
  (await Array.fromAsync(glob(patterns, { exclude }))).toSorted();

const usage = `Usage: npm test -- [options] [pattern …]
       npm run test:faults -- [options] [pattern …]

A pattern is a path or a quoted glob of test files; without one, all of them run.

  --postgres-15-too  also run what depends on the database on PostgreSQL 15
  --all-rounds       repeat tests as often as closing an issue takes, one file after another; test:faults sets it
  --help             print this text`;

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        "postgres-15-too": { type: "boolean", default: false },
        "all-rounds": { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`);
    return process.exit(1);
  }
}

const { values, positionals } = readArguments();
if (values.help) {
  console.log(usage);
  process.exit(0);
}
for (const pattern of positionals) {
  if ((await filesOf([pattern])).length > 0) continue;
  console.error(`No file matches ${pattern}. Patterns are relative to the folder of the repository.`);
  process.exit(1);
}
const allRounds = values["all-rounds"];
if (allRounds) process.env["FAULT_ROUNDS"] = "full";
const files = await filesOf(positionals.length === 0 ? everything : positionals);
const chosen = allRounds && positionals.length === 0 ? await filesWithRounds(files) : files;
const newest = await runTests(await newestPostgres(), chosen, allRounds);
const oldest = values["postgres-15-too"]
  ? await runTests(await startDebianCluster(), await filesOf(whatTheDatabaseDecides, notOnTheOldest), allRounds)
  : { passed: 0, failed: 0 };

const passed = newest.passed + oldest.passed;
const failed = newest.failed + oldest.failed;
console.log(`${passed} passed, ${failed} failed`);
const somethingRan = newest.passed > 0 && (oldest.passed > 0 || !values["postgres-15-too"]);
process.exitCode = failed === 0 && somethingRan ? 0 : 1;
