import { type Batches, inBatches } from "@ehr-marketplace/service-kit/database";
import { type Kysely, sql } from "kysely";
import type { DB } from "../../database-schema.ts";
import { keptForDisabled } from "./retry-schedule.ts";

/** What has been due to a disabled endpoint for too long, all of that time while it was disabled. */
export function expireKept(database: Kysely<DB>, now: Date, batches?: Batches): Promise<number> {
  const before = new Date(now.getTime() - keptForDisabled);
  return inBatches(async (most) => {
    // Who is enabled at this moment is left alone: then all that is kept is sent.
    const { numAffectedRows = 0n } = await sql`
      update deliveries set status = 'expired', settled_at = ${now} where id = any (array(
        select kept.id from recipients r cross join lateral (
          select id, status from deliveries d
          where d.recipient_id = r.id and d.settled_at is null and d.created_at < ${before}
            and greatest(d.created_at, d.begun_anew_at) < ${before}
          order by d.created_at, d.id limit ${most} for update skip locked
        ) kept
        where r.status = 'disabled' and r.disabled_at < ${before} and kept.status = 'waiting'
        limit ${most} for share of r skip locked
      ))`.execute(database);
    return Number(numAffectedRows);
  }, batches);
}
