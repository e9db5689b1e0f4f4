/** Few rounds where every change is checked; all of them with `npm run test:faults`, which closes an issue. */
export function rounds(few: number, full: number): number {
  return process.env["FAULT_ROUNDS"] === "full" ? full : few;
}

const startMs = 120_000;

/** How long so many rounds may take on a busy machine: more than any that makes progress needs. */
export function timeLimitMs(count: number, secondsEach: number): number {
  return startMs + Math.ceil(count * secondsEach * 1_000);
}
