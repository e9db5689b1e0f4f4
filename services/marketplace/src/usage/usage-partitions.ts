import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { createUsagePartitions, dropUsageDay, findOldUsageDays } from "./usage-store.ts";

/** Creates the daily partitions of usage records for the next week. */
export const prepareUsagePartitions = (database: Kysely<DB>, now: Date): Promise<void> =>
  createUsagePartitions(database, now);

/** Drops the records of 13 months ago, a day at a time. A day that is being read is left for the next run. */
export async function dropOldUsage(database: Kysely<DB>): Promise<void> {
  for (const day of await findOldUsageDays(database)) await dropUsageDay(database, day);
}
