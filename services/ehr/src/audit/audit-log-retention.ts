import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { dropOldDays } from "../partitioned-log.ts";
import { createPartitions, dropOldestAuditDay } from "./audit-store.ts";

/** Creates the audit log's partitions for the next week. */
export const prepareAuditPartitions = (database: Kysely<DB>, now: Date): Promise<void> =>
  createPartitions(database, now);

/** Drops the partitions older than the launch log's retention and than the minimum that the owner set in the database. */
export function dropOldAuditEntries(
  { database, logger, launchLogDays }: { database: Kysely<DB>; logger: Logger; launchLogDays: number },
  now: Date,
): Promise<number> {
  return dropOldDays({ logger, log: "audit" }, () => dropOldestAuditDay(database, now, launchLogDays));
}
