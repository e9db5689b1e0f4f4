import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import {
  createAttemptPartitions,
  dropAttemptDay,
  findMinRetentionDays,
  findOldAttemptDays,
} from "./maintenance-store.ts";

/** Creates the delivery log's daily partitions for the next week. */
export const prepareAttemptPartitions = (database: Kysely<DB>, now: Date): Promise<void> =>
  createAttemptPartitions(database, now);

/** Waiting for the lock on a partition that is being read blocks the log for a moment, and a reader mostly reads all partitions. */
const maxBusy = 2;

/** Drops partitions beyond the retention, each in its own transaction. Returns how many are left for the next run. */
export async function dropOldAttempts(database: Kysely<DB>, now: Date, retentionDays: number): Promise<number> {
  const old = await findOldAttemptDays(database, now, retentionDays);
  let [dropped, busy] = [0, 0];
  for (const day of old) {
    if (await dropAttemptDay(database, day, retentionDays)) dropped += 1;
    else busy += 1;
    if (busy === maxBusy) break;
  }
  return old.length - dropped;
}

/** The minimum in the database takes precedence over the service's configuration. */
export async function warnIfRetentionTooShort(database: Kysely<DB>, logDays: number, logger: Logger): Promise<void> {
  const minDays = await findMinRetentionDays(database);
  if (logDays >= minDays) return;
  logger.warn(
    { logDays, leastDays: minDays },
    "DELIVERY_LOG_DAYS is below the database's minimum; keeping attempts for the minimum",
  );
}
