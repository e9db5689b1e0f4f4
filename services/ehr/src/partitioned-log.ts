import type { Logger } from "@ehr-marketplace/service-kit/telemetry";

const dayMs = 86_400_000;
const maxDaysAtOnce = 92;

export interface LogRange {
  from: Date;
  /** Undefined: no upper bound, because clocks of other processes may be ahead. */
  before: Date | undefined;
}

/**
 * Reads a log that is partitioned by day, the newest first. Six years are 2,192 partitions, and one statement over all of them takes
 * about as many locks as PostgreSQL has for everybody: so the log is read backwards in growing strides.
 */
export async function readNewestFirst<Row>(
  { now, before, oldest, limit }: { now: Date; before?: Date | undefined; oldest: Date; limit: number },
  find: (range: LogRange, limit: number) => Promise<Row[]>,
): Promise<Row[]> {
  const found: Row[] = [];
  let end = before;
  // A cursor may name any time; in the future there is nothing to find.
  let at = Math.min(now.getTime(), before?.getTime() ?? Infinity);
  for (let days = 1; found.length < limit && at > oldest.getTime(); days = Math.min(2 * days, maxDaysAtOnce)) {
    at = Math.max(at - days * dayMs, oldest.getTime());
    const from = new Date(at);
    found.push(...(await find({ from, before: end }, limit - found.length)));
    end = from;
  }
  return found;
}

/** In an hour: an operator who configured a short retention by mistake notices before years are gone. */
const maxDropsAtOnce = 10;

/** Drops days that are older than a log is kept for. Returns how many. */
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
    if (!isInUse(error)) throw error;
    logger.info({ log }, "partitions of a log are in use; dropping old ones later");
  } finally {
    if (dropped.length > 0) logger.info({ log, dropped }, "dropped old partitions of a log");
  }
  return dropped.length;
}

/** A backup, for example, locks all of a log for as long as it takes. */
const isInUse = (error: unknown): boolean => (error as { code?: string }).code === "55P03";

/** Whether an insert failed because its day has no partition. The code is that of check constraints too, which have a name. */
export function isWithoutPartition(error: unknown): boolean {
  const { code, constraint } = error as { code?: string; constraint?: string };
  return code === "23514" && constraint === undefined;
}
