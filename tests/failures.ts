import { relative } from "node:path";
import { inspect } from "node:util";

/** What `test:fail` of node:test says, as far as it is used here. */
export interface FailedTest {
  name: string;
  file?: string;
  line?: number;
  details: { error: Error };
  /** What the process of the file printed, where the file itself failed: node:test has no error of it. */
  stderr?: string | undefined;
}

const maxErrorLines = 40;

function errorText({ details: { error }, stderr }: FailedTest): string {
  // node:test wraps what a test throws.
  const thrown = error.cause ?? error;
  const text = typeof thrown === "string" ? thrown : inspect(thrown);
  const lines = (stderr === undefined ? text : `${text}\n${stderr.trim()}`).split("\n");
  const more = lines.length - maxErrorLines;
  return [...lines.slice(0, maxErrorLines), ...(more > 0 ? [`… ${more} more lines`] : [])]
    .map((line) => `    ${line}`.trimEnd())
    .join("\n");
}

/** The end of a log that is cut off at its beginning: which tests failed, where, and why. */
export function failureList(failures: FailedTest[]): string {
  const entries = failures.map((test) => {
    const file = test.file === undefined ? "" : relative(process.cwd(), test.file);
    const location = test.line === undefined ? file : `${file}:${test.line}`;
    return `  ${location}\n  ${test.name}\n${errorText(test)}\n`;
  });
  return [`Failed tests (${failures.length}):`, "", ...entries].join("\n");
}
