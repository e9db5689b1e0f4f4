import { type BatchOptions, runInBatches } from "@ehr-marketplace/service-kit/database";
import { type Kysely, sql } from "kysely";
import type { DB } from "../../database-schema.ts";
import { disabledRetentionMs } from "./retry-schedule.ts";

/** Expires deliveries that have been due to a disabled endpoint for the whole retention period. */
export function expireDeliveries(database: Kysely<DB>, now: Date, batches?: BatchOptions): Promise<number> {
  const before = new Date(now.getTime() - disabledRetentionMs);
  return runInBatches(async (limit) => {
    // A recipient that is being enabled is locked and skipped: its deliveries are sent.
    const { numAffectedRows = 0n } = await sql`
      update deliveries set status = 'expired', settled_at = ${now} where id = any (array(
        select kept.id from recipients r cross join lateral (
          select id, status from deliveries d
          where d.recipient_id = r.id and d.settled_at is null and d.created_at < ${before}
            and greatest(d.created_at, d.restarted_at) < ${before}
          order by d.created_at, d.id limit ${limit} for update skip locked
        ) kept
        where r.status = 'disabled' and r.disabled_at < ${before} and kept.status = 'waiting'
        limit ${limit} for share of r skip locked
      ))`.execute(database);
    return Number(numAffectedRows);
  }, batches);
}
