import { once } from "node:events";
import { resolve } from "node:path";
import { run } from "node:test";
import { type FailedTest, failureList } from "./failures.ts";
import { type Progress, progressText, showProgress } from "./progress.ts";
import { isCancelled, reportText } from "./report-text.ts";

export interface Counts {
  passed: number;
  failed: number;
}

/** What the runs of node:test that follow each other have in common. */
export interface Session {
  isSequential: boolean;
  failures: FailedTest[];
  /** How often node:test was started. */
  runs: number;
  progress: Progress;
  onFileEnd(file: string, durationMs: number): void;
}

export const currentProgress = ({ progress }: Session): string =>
  progressText({ ...progress, elapsedMs: performance.now() });

interface TestEnd {
  name: string;
  file?: string;
  nesting: number;
}

/** With a process for each file, node:test reports the file as a test that has the file's path as its name. */
const isWholeFile = ({ name, file, nesting }: TestEnd): boolean => nesting === 0 && resolve(name) === file;

export async function runFiles(
  files: string[],
  limits: { concurrency: number; timeout: number },
  counts: Counts,
  session: Session,
): Promise<void> {
  session.runs += 1;
  const stream = run({ files, ...limits });
  const output = showProgress(() => currentProgress(session), process.stdout);
  // The timeout of a test doesn't end a file whose process hangs.
  const watchdog = setTimeout(() => {
    output.stop();
    console.error(failureList(session.failures));
    const hanging = files.filter((file) => !finished.has(file)).join(", ");
    console.error(`No test has reported for minutes. Exiting; these files have not ended: ${hanging}`);
    process.exit(1);
  }, 2 * limits.timeout);
  stream.on("data", () => watchdog.refresh());
  const finished = new Set<string>();
  const stderr = new Map<string, string>();
  stream.on("test:stderr", ({ file, message }) => stderr.set(file, (stderr.get(file) ?? "") + message));
  stream.on("test:pass", (test) => {
    if (test.details.type !== "suite" && test.skip === undefined && test.todo === undefined) counts.passed += 1;
  });
  stream.on("test:fail", (test) => {
    // A suite fails with its tests, which are counted already; a suite whose hook fails is counted here.
    const { failureType } = test.details.error as { failureType?: string };
    if (test.details.type === "suite" && failureType === "subtestsFailed") return;
    counts.failed += 1;
    if (isCancelled(test)) return;
    session.failures.push(isWholeFile(test) ? { ...test, stderr: stderr.get(test.name) } : test);
  });
  // The events above come in the order of the files, these ones when they happen.
  stream.on("test:complete", (test) => {
    const { failureType } = (test.details.error ?? {}) as { failureType?: string };
    if (!test.details.passed && failureType !== "subtestsFailed") session.progress.failedTests += 1;
    if (!isWholeFile(test)) return;
    finished.add(test.name);
    session.onFileEnd(test.name, test.details.duration_ms);
  });
  const reported = reportText(stream);
  reported.on("data", (text: string) => output.write(text));
  await once(reported, "end");
  output.stop();
  clearTimeout(watchdog);
}
