export const maxBatchesPerSecond = 20;

/** A day, and how many records were counted on it. */
export interface DayCount {
  day: string;
  records: number;
}

/** How many were counted today. With the clock of a process that is ahead, the last batch can be of a later day, which goes on then. */
export function countDay(last: { day: string | null; records: number } | undefined, today: string): DayCount {
  const day = last?.day ?? null;
  return last !== undefined && day !== null && day >= today
    ? { day, records: last.records }
    : { day: today, records: 0 };
}

/** The second of the last batch, and how many there were in it. */
export interface BatchRate {
  second: Date;
  batches: number;
}

/** Counts a batch. Undefined: the second has had all of its batches. */
export function countBatch(last: BatchRate | undefined, now: Date): BatchRate | undefined {
  const second = new Date(Math.floor(now.getTime() / 1_000) * 1_000);
  // With the clock of a process that is ahead, the last batch can be of a later second.
  if (last === undefined || last.second < second) return { second, batches: 1 };
  return last.batches < maxBatchesPerSecond ? { second: last.second, batches: last.batches + 1 } : undefined;
}

export const msUntilNextSecond = ({ second }: Pick<BatchRate, "second">, now: Date): number =>
  second.getTime() + 1_000 - now.getTime();
