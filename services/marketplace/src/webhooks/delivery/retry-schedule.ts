const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** How long to wait after the first, the second, … counted failure. */
export const waits: readonly number[] = [
  5 * second,
  15 * second,
  minute,
  5 * minute,
  15 * minute,
  hour,
  3 * hour,
  6 * hour,
  12 * hour,
  24 * hour,
  24 * hour,
];

/** After so many counted failures a delivery has failed. */
export const mostFailures: number = waits.length + 1;

const jitter = 0.1;

/** How long to wait after this many counted failures; nothing: that was the last. A longer `Retry-After` is respected. */
export function waitAfter(failures: number, retryAfterMs: number | null, random: () => number): number | undefined {
  const wait = waits[failures - 1];
  if (wait === undefined) return undefined;
  const spread = Math.round(wait * (1 - jitter + 2 * jitter * random()));
  // Held against what chance made of the wait: nobody is tried before the time that it asked for.
  return Math.max(spread, Math.min(retryAfterMs ?? 0, 24 * hour));
}

const longestBetweenProbes = 15 * minute;

/** A recipient that is held is tried after a minute, then less and less often. */
export function waitForProbe(failedProbes: number): number {
  return Math.min(longestBetweenProbes, minute * 2 ** Math.min(failedProbes, 10));
}

/** How many that waited are let go at once, at each step, once a recipient is back. */
export const firstPace = 10;
const fastestPace = 320;
export const nextPace = (pace: number): number => Math.min(fastestPace, pace * 2);
export const betweenPaces: number = second;

/** So many deliveries to one recipient may have a job: more would stand in the way of all others' in the queue. */
export const mostQueued = 1_000;

/** Failures in a row after which a recipient is held. */
export const failuresToHold = 5;
/** An endpoint that is held for so long is disabled. */
export const longestHold: number = 5 * 24 * hour;
/** What is due to a disabled endpoint is kept for so long. */
export const keptForDisabled: number = 30 * 24 * hour;
