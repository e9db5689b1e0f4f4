import { type Kysely, sql, type Transaction } from "kysely";
import type { DB } from "../../database-schema.ts";

/** From now on nothing goes out to it, and nobody looks for what it could be sent. */
export async function silenceRecipient(transaction: Transaction<DB>, id: string, at: Date): Promise<void> {
  await sql`
    update recipients set status = 'disabled', disabled_at = ${at}, disabled_because = 'it was deleted',
      held_since = coalesce(held_since, ${at})
    where id = ${id}`.execute(transaction);
}

/** Deleted endpoints that something may still be due to. */
export async function findSilenced(database: Kysely<DB>, most: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select r.id from recipients r join webhook_endpoints e on e.id = r.id
    where r.status = 'disabled' and e.deleted_at is not null order by r.held_since limit ${most}`.execute(database);
  return rows.map(({ id }) => id);
}

/** Those that are claimed or settled at this moment are left for the next time: nobody waits for anybody. */
export async function dropDeliveries(
  database: Kysely<DB>,
  recipientId: string,
  at: Date,
  most: number,
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    update deliveries set status = 'dropped', settled_at = ${at}, next_attempt_at = null where id = any (array(
      select id from deliveries where recipient_id = ${recipientId} and settled_at is null
      limit ${most} for update skip locked
    ))`.execute(database);
  return Number(numAffectedRows);
}

/** Where nothing is due to it any more, it is no longer among those in trouble. */
export async function forgetSilenced(transaction: Transaction<DB>, id: string): Promise<void> {
  // Whoever records an event for it holds the row until the commit; only afterwards what they recorded is seen.
  await sql`select from recipients where id = ${id} for update`.execute(transaction);
  await sql`
    update recipients set status = 'active', crowded = false, failures_in_row = 0, held_since = null, probes = 0,
      probed_id = null, disabled_at = null, disabled_because = null
    where id = ${id} and not exists (
      select from deliveries where recipient_id = ${id} and settled_at is null
    )`.execute(transaction);
}
