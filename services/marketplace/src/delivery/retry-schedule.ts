const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Delays after the first, second, … counted failure. */
export const retryDelaysMs: readonly number[] = [
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

/** A delivery has failed after this many counted failures. */
export const maxFailures: number = retryDelaysMs.length + 1;

const jitter = 0.1;

/** The delay after this many counted failures, or a longer `Retry-After` up to 24 hours. Undefined after the last failure. */
export function retryDelayMs(failures: number, retryAfterMs: number | null, random: () => number): number | undefined {
  const delayMs = retryDelaysMs[failures - 1];
  if (delayMs === undefined) return undefined;
  const jittered = Math.round(delayMs * (1 - jitter + 2 * jitter * random()));
  // Compared after the jitter, so that no attempt is made before the time in `Retry-After`.
  return Math.max(jittered, Math.min(retryAfterMs ?? 0, 24 * hour));
}

/** More queued jobs of one recipient would slow down the fetch for all others. */
export const maxQueuedPerRecipient = 1_000;
