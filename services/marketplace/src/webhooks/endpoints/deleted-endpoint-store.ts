import { type Kysely, sql, type Transaction } from "kysely";
import type { DB } from "../../database-schema.ts";

/** Disables a deleted endpoint's recipient, so that neither deliveries nor probes are sent to it. */
export async function disableDeletedRecipient(transaction: Transaction<DB>, id: string, at: Date): Promise<void> {
  await sql`
    update recipients set status = 'disabled', disabled_at = ${at}, disabled_reason = 'it was deleted',
      held_since = coalesce(held_since, ${at})
    where id = ${id}`.execute(transaction);
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

/** Resets the recipient once it has no unsettled deliveries, so that it no longer counts as disabled. */
export async function resetDeletedRecipient(transaction: Transaction<DB>, id: string): Promise<void> {
  // Transactions that record events hold a share lock until their commit; their deliveries are visible only after it.
  await sql`select from recipients where id = ${id} for update`.execute(transaction);
  await sql`
    update recipients set status = 'active', crowded = false, consecutive_failures = 0, held_since = null, probes = 0,
      probed_id = null, disabled_at = null, disabled_reason = null
    where id = ${id} and not exists (
      select from deliveries where recipient_id = ${id} and settled_at is null
    )`.execute(transaction);
}
