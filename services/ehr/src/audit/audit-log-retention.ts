import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { dropOldDays } from "../partitioned-log.ts";
import { createPartitions, dropOldestAuditDay } from "./audit-store.ts";

/** Those of a week ahead. */
export const prepareAuditPartitions = (database: Kysely<DB>, now: Date): Promise<void> =>
  createPartitions(database, now);

/** The audit log is kept for as long as the launch log, and never for less than the owner's floor in the database. */
export function dropOldAuditEntries(
  { database, logger, launchLogDays }: { database: Kysely<DB>; logger: Logger; launchLogDays: number },
  now: Date,
): Promise<number> {
  return dropOldDays({ logger, log: "audit" }, () => dropOldestAuditDay(database, now, launchLogDays));
}
