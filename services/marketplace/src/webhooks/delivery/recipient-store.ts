import { type RawBuilder, sql, type Transaction } from "kysely";
import type { DB } from "../../database-schema.ts";

/** The state of a recipient without failures. */
export const activeState = { status: "active", consecutive_failures: 0, held_since: null, probes: 0, probed_id: null };

/** True for an organisation that has not set its callback, or has removed it. */
export const isWithoutCallback = (recipientId: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql`exists (select from organisations o where o.id = ${recipientId} and o.callback_url is null)`;

/** Resets the failures of recipients and reactivates held ones. Returns the ids of those that were held. */
export async function resetRecipientFailures(transaction: Transaction<DB>, ids: string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string; was: string }>`/* planned once: reset-recipient-failures */
    update recipients r set status = 'active', consecutive_failures = 0, held_since = null, probes = 0, probed_id = null
    from (
      select id, status from recipients
      where id = any (${ids}::uuid[]) and (consecutive_failures > 0 or status = 'held') and status <> 'disabled'
        -- The callback may have been removed while the request was in flight
        and not ${isWithoutCallback(sql`recipients.id`)}
      order by id for update
    ) before
    where r.id = before.id
    returning r.id, before.status as was`.execute(transaction);
  return rows.filter(({ was }) => was === "held").map(({ id }) => id);
}

export async function isUnreachable(transaction: Transaction<DB>, recipientId: string): Promise<boolean> {
  const { rows } = await sql<{ unreachable: boolean }>`
    select ${isWithoutCallback(sql`${recipientId}::uuid`)} as unreachable`.execute(transaction);
  return rows[0]?.unreachable === true;
}

export function lockRecipient(transaction: Transaction<DB>, id: string) {
  return transaction.selectFrom("recipients").selectAll().where("id", "=", id).forUpdate().executeTakeFirstOrThrow();
}
