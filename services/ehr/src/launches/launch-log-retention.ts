import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { dropOldDays } from "../partitioned-log.ts";
import { createPartitions, dropOldestDay, findMinRetentionDays } from "./launch-log-store.ts";

interface RetentionDeps {
  database: Kysely<DB>;
  logger: Logger;
  launchLogDays: number;
}

/** Creates the launch log's partitions for the next week. */
export const prepareLaunchPartitions = (database: Kysely<DB>, now: Date): Promise<void> =>
  createPartitions(database, now);

/** The database's minimum takes precedence over LAUNCH_LOG_DAYS. */
export async function warnOfShortRetention({ database, logger, launchLogDays }: RetentionDeps): Promise<void> {
  const minDays = await findMinRetentionDays(database);
  if (launchLogDays >= minDays) return;
  logger.warn(
    { launchLogDays, minDays },
    "LAUNCH_LOG_DAYS is below the database's minimum; launches are kept for the minimum",
  );
}

/** Drops partitions older than the log's retention. Returns the number of dropped partitions. */
export function dropOldLaunches({ database, logger, launchLogDays }: RetentionDeps, now: Date): Promise<number> {
  return dropOldDays({ logger, log: "launches" }, () => dropOldestDay(database, now, launchLogDays));
}
