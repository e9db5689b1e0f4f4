import { type Kysely, sql, type Transaction } from "kysely";
import type { DB } from "../database-schema.ts";

/** Expires waiting deliveries that have been due to a disabled endpoint since before the given time. */
export async function expireWaiting(database: Kysely<DB>, now: Date, before: Date, limit: number): Promise<number> {
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
}

/** Deleted endpoints that may still have unsettled deliveries. */
export async function findDeletedRecipients(database: Kysely<DB>, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select r.id from recipients r join webhook_endpoints e on e.id = r.id
    where r.status = 'disabled' and e.deleted_at is not null order by r.held_since limit ${limit}`.execute(database);
  return rows.map(({ id }) => id);
}

/** Skips deliveries that are locked by a claim or a settlement; the next run drops them. */
export async function dropDeliveries(
  database: Kysely<DB>,
  recipientId: string,
  at: Date,
  limit: number,
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    update deliveries set status = 'dropped', settled_at = ${at}, next_attempt_at = null where id = any (array(
      select id from deliveries where recipient_id = ${recipientId} and settled_at is null
      limit ${limit} for update skip locked
    ))`.execute(database);
  return Number(numAffectedRows);
}

export async function hasUnsettled(transaction: Transaction<DB>, recipientId: string): Promise<boolean> {
  const { rows } = await sql`
    select from deliveries where recipient_id = ${recipientId} and settled_at is null limit 1`.execute(transaction);
  return rows.length > 0;
}
