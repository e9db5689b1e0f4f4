/** Whether `npm run test:slow` runs the tests, each file by itself, and not `npm test`. */
export const isFullRun = process.env["TEST_ROUNDS"] === "all";

/** Returns `few` in `npm test` and `full` in `npm run test:slow`. */
export function rounds(few: number, full: number): number {
  return isFullRun ? full : few;
}

/**
 * Returns the time that a promise names, which the slow tier measures, file by file. The gate, whose tests share the machine,
 * only notices what hangs.
 */
export function promisedMs(ms: number): number {
  return isFullRun ? ms : ms + 60_000;
}

const startMs = 120_000;

/** Returns a generous time limit for `count` rounds on a busy machine. */
export function timeLimitMs(count: number, secondsEach: number): number {
  return startMs + Math.ceil(count * secondsEach * 1_000);
}
