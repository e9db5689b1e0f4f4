import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { dropOldestDay, findLeastDays } from "./launch-log-store.ts";

interface Keeping {
  database: Kysely<DB>;
  logger: Logger;
  launchLogDays: number;
}

/** The database has the last word. */
export async function warnOfShortLog({ database, logger, launchLogDays }: Keeping): Promise<void> {
  const leastDays = await findLeastDays(database);
  if (launchLogDays >= leastDays) return;
  logger.warn(
    { launchLogDays, leastDays },
    "LAUNCH_LOG_DAYS is less than the database allows: launches are kept longer",
  );
}

/** In an hour. Whoever told a process by mistake to keep less than the others notices before years are gone. */
const mostDaysAtOnce = 10;

/** Days that are older than the log is kept for go. Answers how many went. */
export async function dropOldLaunches({ database, logger, launchLogDays }: Keeping, now: Date): Promise<number> {
  const dropped: string[] = [];
  try {
    while (dropped.length < mostDaysAtOnce) {
      const day = await dropOldestDay(database, now, launchLogDays);
      if (day === null) break;
      dropped.push(day);
    }
  } catch (error) {
    if (!isInUse(error)) throw error;
    logger.info("somebody reads the launch log: its old days are dropped later");
  } finally {
    if (dropped.length > 0) logger.info({ dropped }, "old days of the launch log were dropped");
  }
  return dropped.length;
}

/** A backup, for example, holds all of the log for as long as it takes. */
const isInUse = (error: unknown): boolean => (error as { code?: string }).code === "55P03";
