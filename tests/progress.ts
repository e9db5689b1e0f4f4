/** The state of a run of the tests. Weights are estimated durations: a long file counts for more than a short one. */
export interface Progress {
  files: number;
  finishedFiles: number;
  failedTests: number;
  elapsedMs: number;
  /** What is expected for the whole run, before the first file starts. */
  estimateMs: number;
  /** The part of the estimate, from 0 to 1, that the finished files account for. */
  finishedShare: number;
}

const minutes = (ms: number): string => (ms < 60_000 ? "under 1 min" : `${Math.round(ms / 60_000)} min`);
const count = (files: number): string => `${files} test ${files === 1 ? "file" : "files"}`;

/** For example `430 test files, about 14 min`. */
export const startText = (files: number, estimateMs: number): string =>
  `${count(files)}, ${estimateMs < 60_000 ? "" : "about "}${minutes(estimateMs)}`;

/** For example `[214/430 files, 6 min, 0 failed, about 8 min left]`. */
export function progressText(progress: Progress): string {
  const { files, finishedFiles, failedTests, elapsedMs, estimateMs, finishedShare } = progress;
  // Too little has finished to extrapolate from: the estimate of the start is better.
  const leftMs =
    finishedShare < 0.1 ? Math.max(estimateMs - elapsedMs, 0) : (elapsedMs * (1 - finishedShare)) / finishedShare;
  const left = leftMs < 60_000 ? "under 1 min left" : `about ${minutes(leftMs)} left`;
  return `[${finishedFiles}/${files} files, ${Math.floor(elapsedMs / 60_000)} min, ${failedTests} failed, ${left}]`;
}

interface Output {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

export interface ProgressLine {
  /** Writes what a reporter prints, above the line. */
  write(text: string): void;
  stop(): void;
}

const plainIntervalMs = 30_000;
const terminalIntervalMs = 1_000;
const clearLine = "\r\u001b[2K";

/** In a terminal the progress is the last line and is rewritten in place. Elsewhere it is a line of its own every 30 seconds. */
export function showProgress(text: () => string, output: Output): ProgressLine {
  const isTerminal = output.isTTY === true;
  let isAtLineStart = true;
  const draw = (): void => {
    if (!isTerminal) output.write(`${isAtLineStart ? "" : "\n"}${text()}\n`);
    else if (isAtLineStart) output.write(`${clearLine}${text().slice(0, (output.columns ?? 80) - 1)}`);
    if (!isTerminal) isAtLineStart = true;
  };
  const timer = setInterval(draw, isTerminal ? terminalIntervalMs : plainIntervalMs);
  if (isTerminal) draw();
  return {
    write(chunk) {
      if (isTerminal && isAtLineStart) output.write(clearLine);
      output.write(chunk);
      isAtLineStart = chunk.endsWith("\n");
      if (isTerminal) draw();
    },
    stop() {
      clearInterval(timer);
      if (isTerminal && isAtLineStart) output.write(clearLine);
    },
  };
}
