import { relative } from "node:path";
import { inspect } from "node:util";

/** What node:test says when it begins with a test, a suite, a test file or a process with test files. */
export interface TestBegin {
  name: string;
  nesting: number;
  file?: string;
}

/** What it says when that has ended. */
export interface TestEnd extends TestBegin {
  line?: number;
  skip?: string | boolean;
  todo?: string | boolean;
  details: { passed: boolean; duration_ms: number; type?: string; error?: Error & { failureType?: string } };
}

const maxFirstLines = 30;
const maxLastLines = 10;
const maxErrors = 20;

/** A test that has not run, because the hook or the code of its suite failed. The failure of the suite has the reason. */
const isCancelled = ({ details: { error } }: TestEnd): boolean =>
  error?.failureType === "cancelledByParent" && String(error.cause).startsWith("test did not finish before its parent");
const isFailedByTests = ({ details: { error } }: TestEnd): boolean => error?.failureType === "subtestsFailed";

function errorText(error: Error | undefined): string {
  // node:test wraps what a test throws.
  const thrown = error?.cause ?? error;
  const lines = (typeof thrown === "string" ? thrown : inspect(thrown)).split("\n");
  const more = lines.length - maxFirstLines - maxLastLines;
  if (more > 0) lines.splice(maxFirstLines, more, `… ${more} more lines`);
  return lines.map((line) => `    ${line}`.trimEnd()).join("\n");
}

const fileOf = ({ file = "" }: TestBegin): string => relative(process.cwd(), file);
const locationOf = (test: TestEnd): string => `${fileOf(test)}:${test.line ?? 1}`;

export interface Report {
  begin(test: TestBegin): void;
  /** Returns a line to print, if there is something to say. */
  add(test: TestEnd): string | undefined;
  /** What failed, where, and why, and how many tests there were. */
  end(): { failures: string; passed: number; failed: number };
}

/**
 * Describes a run of test files: a line for each failed test and each file, and in the end what failed. A test that is skipped
 * has failed.
 */
export function createReport(files: string[]): Report {
  const unfinished = new Set(files);
  const failures: { location: string; name: string; text: string }[] = [];
  /** The suites of each file that are running, and the test. */
  const running = new Map<string, string[]>();
  let [passed, failed] = [0, 0];

  const nameOf = ({ name, nesting, ...test }: TestEnd): string =>
    [...(running.get(fileOf({ name, nesting, ...test })) ?? []).slice(1, nesting), name].join(" › ");

  const fail = (test: TestEnd, text = errorText(test.details.error)): void => {
    failures.push({ location: locationOf(test), name: nameOf(test), text });
  };

  const describeFile = ({ name, details }: TestEnd): string => {
    unfinished.delete(name);
    const seconds = (details.duration_ms / 1_000).toFixed(1);
    return `${details.passed ? "✔" : "✖"} [${files.length - unfinished.size}/${files.length}] ${name} (${seconds} s)`;
  };

  /** An error that many tests have, because a service doesn't start, is written once. */
  const describeFailures = (): string => {
    const written = new Set<string>();
    const entries = failures.map(({ location, name, text }) => {
      const isWritten = written.has(text) || written.size >= maxErrors;
      written.add(text);
      return `  ${location}\n  ${name}\n${isWritten ? (text.split("\n", 1)[0] ?? "") : text}\n`;
    });
    const notRun = [...unfinished].map((file) => `  ${file} has not ended: its process did before.\n`);
    return [`Failed (${failures.length + notRun.length}):`, "", ...entries, ...notRun].join("\n");
  };

  const addTest = (test: TestEnd): string | undefined => {
    if (!test.details.passed) {
      failed += 1;
      if (isCancelled(test)) return undefined;
      fail(test);
    } else if (test.skip !== undefined || test.todo !== undefined) {
      failed += 1;
      fail(test, "    A test may not be skipped.");
    } else {
      passed += 1;
      return undefined;
    }
    return `✖ ${locationOf(test)} ${nameOf(test)}`;
  };

  const addSuite = (test: TestEnd): string | undefined => {
    const isFile = unfinished.has(test.name) && test.nesting === 0;
    const hasFailed = !(test.details.passed || isFailedByTests(test));
    if (hasFailed) {
      failed += 1;
      if (isCancelled(test)) return undefined;
      fail(test);
    }
    if (isFile) return describeFile(test);
    return hasFailed ? `✖ ${locationOf(test)} ${nameOf(test)}` : undefined;
  };

  return {
    begin(test) {
      const names = running.get(fileOf(test)) ?? [];
      names[test.nesting] = test.name;
      running.set(fileOf(test), names);
    },
    add: (test) => (test.details.type !== "suite" && test.nesting > 0 ? addTest(test) : addSuite(test)),
    end: () => ({
      failures: failed + unfinished.size === 0 ? "" : describeFailures(),
      passed,
      failed: failed + unfinished.size,
    }),
  };
}
