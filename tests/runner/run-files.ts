import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { createReport, type TestBegin, type TestEnd } from "./report.ts";
import type { PostgresVersion } from "./tiers.ts";

/** Test files that run in one process, one after another. */
export interface FileList {
  files: string[];
  postgres: PostgresVersion;
  hasAllRounds: boolean;
}

/** A test that takes longer hangs. Most have shorter limits of their own. */
const testTimeoutMs = 900_000;

export interface Result {
  passed: number;
  failed: number;
}

/** A process for each list: a module that loads the files of the list, which node:test runs as a test file. */
async function writeEntries(folder: string, lists: FileList[]): Promise<string[]> {
  const loader = resolve("tests/runner/load-files.ts");
  return Promise.all(
    lists.map(async ({ files, postgres, hasAllRounds }, nth) => {
      const entry = join(folder, `list-${nth + 1}.mjs`);
      const environment = { TEST_POSTGRES: postgres, TEST_ROUNDS: hasAllRounds ? "all" : "few" };
      const lines = [
        `Object.assign(process.env, ${JSON.stringify(environment)});`,
        `const { loadFiles } = await import(${JSON.stringify(loader)});`,
        `loadFiles(${JSON.stringify(files)});`,
      ];
      await writeFile(entry, lines.join("\n"));
      return entry;
    }),
  );
}

/** Runs the lists, some at a time, the first ones first. Prints every test of a single file, and a line for each of several files. */
export async function runFiles(lists: FileList[], concurrency: number, signal: AbortSignal): Promise<Result> {
  const files = lists.flatMap((list) => list.files);
  const folder = await mkdtemp(join(tmpdir(), "ehr-marketplace-lists-"));
  try {
    const stream = run({
      files: await writeEntries(folder, lists),
      concurrency,
      signal,
      execArgv: [`--test-timeout=${testTimeoutMs}`],
    });
    const report = createReport(files);
    const isSingle = files.length === 1;
    stream.on("test:dequeue", (test: TestBegin) => report.begin(test));
    stream.on("test:complete", (test: TestEnd) => {
      const line = report.add(test);
      if (line !== undefined && !isSingle && !signal.aborted) console.log(line);
    });
    // Of a single file, the reporter writes it.
    if (!isSingle) stream.on("test:stderr", ({ message }) => process.stderr.write(message));
    // What the slow tier has measured. The summary of each process is no news.
    if (!isSingle && lists.some(({ hasAllRounds }) => hasAllRounds))
      stream.on("test:diagnostic", ({ message, nesting }) => nesting > 0 && console.log(`  ${message}`));
    if (isSingle) stream.compose(spec).pipe(process.stdout, { end: false });
    else stream.resume();
    await once(stream, "end");
    const { failures, passed, failed } = report.end();
    if (failures !== "" && !isSingle && !signal.aborted) console.log(`\n${failures}`);
    return { passed, failed };
  } finally {
    await rm(folder, { recursive: true });
  }
}
