import { relative } from "node:path";
import { inspect } from "node:util";

/** What node:test says when a test, a suite, a test file or a process with test files has ended. */
export interface TestEnd {
  name: string;
  nesting: number;
  file?: string;
  line?: number;
  skip?: string | boolean;
  todo?: string | boolean;
  details: { passed: boolean; duration_ms: number; type?: string; error?: Error & { failureType?: string } };
}

const maxErrorLines = 40;
const maxErrors = 20;

/** A test that has not run, because the hook or the code of its suite failed. The failure of the suite has the reason. */
const isCancelled = ({ details: { error } }: TestEnd): boolean =>
  error?.failureType === "cancelledByParent" && String(error.cause).startsWith("test did not finish before its parent");
const isFailedByTests = ({ details: { error } }: TestEnd): boolean => error?.failureType === "subtestsFailed";

function errorText(error: Error | undefined): string {
  // node:test wraps what a test throws.
  const thrown = error?.cause ?? error;
  const lines = (typeof thrown === "string" ? thrown : inspect(thrown)).split("\n");
  const more = lines.length - maxErrorLines;
  return [...lines.slice(0, maxErrorLines), ...(more > 0 ? [`… ${more} more lines`] : [])]
    .map((line) => `    ${line}`.trimEnd())
    .join("\n");
}

const locationOf = ({ file = "", line = 1 }: TestEnd): string => `${relative(process.cwd(), file)}:${line}`;

export interface Report {
  /** Returns a line to print, if there is something to say. */
  add(test: TestEnd): string | undefined;
  /** What failed, where, and why, and how many tests there were. */
  end(): { failures: string; passed: number; failed: number };
}

/** Describes a run of test files: a line for each failed test and each file, and in the end what failed. */
export function createReport(files: string[]): Report {
  const unfinished = new Set(files);
  const failures: TestEnd[] = [];
  let [passed, failed] = [0, 0];

  const describeFile = ({ name, details }: TestEnd): string => {
    unfinished.delete(name);
    const seconds = (details.duration_ms / 1_000).toFixed(1);
    return `${details.passed ? "✔" : "✖"} [${files.length - unfinished.size}/${files.length}] ${name} (${seconds} s)`;
  };

  /** An error that many tests have, because a service doesn't start, is written once. */
  const describeFailures = (): string => {
    const written = new Set<string>();
    const entries = failures.map((test) => {
      const text = errorText(test.details.error);
      const isWritten = written.has(text) || written.size >= maxErrors;
      written.add(text);
      return `  ${locationOf(test)}\n  ${test.name}\n${isWritten ? (text.split("\n", 1)[0] ?? "") : text}\n`;
    });
    const notRun = [...unfinished].map((file) => `  ${file} has not ended: its process did before.\n`);
    return [`Failed (${failures.length + notRun.length}):`, "", ...entries, ...notRun].join("\n");
  };

  return {
    add(test) {
      const { details, name, nesting } = test;
      const isFile = unfinished.has(name) && nesting === 0;
      const isTest = details.type !== "suite" && nesting > 0;
      if (isTest && details.passed && test.skip === undefined && test.todo === undefined) passed += 1;
      if (details.passed || isFailedByTests(test)) return isFile ? describeFile(test) : undefined;
      failed += 1;
      if (isCancelled(test)) return undefined;
      failures.push(test);
      return isFile ? describeFile(test) : `✖ ${locationOf(test)} ${name}`;
    },
    end: () => ({
      failures: failed + unfinished.size === 0 ? "" : describeFailures(),
      passed,
      failed: failed + unfinished.size,
    }),
  };
}
