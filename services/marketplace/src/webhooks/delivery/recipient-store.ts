import { type RawBuilder, sql, type Transaction } from "kysely";
import type { DB } from "../../database-schema.ts";

/** A recipient that nothing is known against. */
export const untroubled = { status: "active", failures_in_row: 0, held_since: null, probes: 0, probed_id: null };

/** An organisation whose callback nobody has told yet, or that has taken it back. */
export const isWithoutCallback = (recipientId: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql`exists (select from organisations o where o.id = ${recipientId} and o.callback_url is null)`;

/** Those of these recipients that had been failing are counted from nothing again; the ones that were held are named. */
export async function forgiveRecipients(transaction: Transaction<DB>, ids: string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string; was: string }>`/* planned once: forgive-recipients */
    update recipients r set status = 'active', failures_in_row = 0, held_since = null, probes = 0, probed_id = null
    from (
      select id, status from recipients
      where id = any (${ids}::uuid[]) and (failures_in_row > 0 or status = 'held') and status <> 'disabled'
        -- Its callback may have been taken away while this was on its way
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
