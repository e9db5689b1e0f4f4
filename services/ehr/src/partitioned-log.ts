import type { Logger } from "@ehr-marketplace/service-kit/telemetry";

const dayMs = 86_400_000;
const maxDaysAtOnce = 92;

export interface LogRange {
  from: Date;
  /** Undefined: no upper bound, since the clocks of other processes may be ahead. */
  before: Date | undefined;
}

/**
 * Reads a log that is partitioned by day, the newest first. Six years are 2,192 partitions, and one statement over all of them would take
 * about as many locks as PostgreSQL has in total. So the log is read backwards in growing ranges.
 */
export async function readNewestFirst<Row>(
  { now, before, oldest, limit }: { now: Date; before?: Date | undefined; oldest: Date; limit: number },
  find: (range: LogRange, limit: number) => Promise<Row[]>,
): Promise<Row[]> {
  const found: Row[] = [];
  let end = before;
  // A cursor can contain any time, also one in the future.
  let at = Math.min(now.getTime(), before?.getTime() ?? Infinity);
  for (let days = 1; found.length < limit && at > oldest.getTime(); days = Math.min(2 * days, maxDaysAtOnce)) {
    at = Math.max(at - days * dayMs, oldest.getTime());
    const from = new Date(at);
    found.push(...(await find({ from, before: end }, limit - found.length)));
    end = from;
  }
  return found;
}

/** Per hourly run: an operator who configured a short retention by mistake can notice before years are dropped. */
const maxDropsAtOnce = 10;

/** Drops partitions older than a log's retention. Returns the number of dropped partitions. */
export async function dropOldDays(
  { logger, log }: { logger: Logger; log: string },
  dropOldestDay: () => Promise<string | null>,
): Promise<number> {
  const dropped: string[] = [];
  try {
    while (dropped.length < maxDropsAtOnce) {
      const day = await dropOldestDay();
      if (day === null) break;
      dropped.push(day);
    }
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    logger.info({ log }, "failed to drop old log partitions because they are locked; retrying in an hour");
  } finally {
    if (dropped.length > 0) logger.info({ log, dropped }, "dropped old log partitions");
  }
  return dropped.length;
}

/** For example, a backup locks all partitions while it runs. */
const isLockTimeout = (error: unknown): boolean => (error as { code?: string }).code === "55P03";

/** Whether an insert failed because its day has no partition. A failed check constraint has the same code, and a constraint name. */
export function isMissingPartitionError(error: unknown): boolean {
  const { code, constraint } = error as { code?: string; constraint?: string };
  return code === "23514" && constraint === undefined;
}
