import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { dropOldDays } from "../partitioned-log.ts";
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

/** Drops days that are older than the log is kept for. Returns how many. */
export function dropOldLaunches({ database, logger, launchLogDays }: Keeping, now: Date): Promise<number> {
  return dropOldDays({ logger, log: "launches" }, () => dropOldestDay(database, now, launchLogDays));
}
