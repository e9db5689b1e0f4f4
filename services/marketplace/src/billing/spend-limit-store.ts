import { deferRows } from "@ehr-marketplace/service-kit/database";
import { type Kysely, type Selectable, sql, type Transaction } from "kysely";
import type { DB, SpendLimits } from "../database-schema.ts";
import type { SpendLimit } from "./spend-limit.ts";

export interface StoredLimit extends SpendLimit {
  setBy: { issuer: string; subject: string; role: string; requestId: string };
  updatedAt: Date;
}

const selectLimit = (database: Kysely<DB>, subscriptionId: string) =>
  database.selectFrom("spend_limits").selectAll().where("subscription_id", "=", subscriptionId);

export async function findSpendLimit(database: Kysely<DB>, subscriptionId: string): Promise<StoredLimit | undefined> {
  const row = await selectLimit(database, subscriptionId).executeTakeFirst();
  return row && toLimit(row);
}

/** It is read with the next statement. */
export async function deferLimit(
  transaction: Transaction<DB>,
  subscriptionId: string,
): Promise<() => Promise<StoredLimit | undefined>> {
  const readRows = await deferRows(transaction, "find-spend-limit", selectLimit(transaction, subscriptionId));
  return async () => (await readRows()).map(toLimit)[0];
}

const toLimit = (row: Selectable<SpendLimits>): StoredLimit => ({
  amount: BigInt(row.amount),
  onReached: row.on_reached as SpendLimit["onReached"],
  setBy: {
    issuer: row.actor_issuer,
    subject: row.actor_subject,
    role: row.actor_role,
    requestId: row.request_id,
  },
  updatedAt: row.updated_at,
});

/** The caller has locked the subscription. */
export async function upsertSpendLimit(
  transaction: Transaction<DB>,
  subscriptionId: string,
  { amount, onReached, setBy, updatedAt }: StoredLimit,
): Promise<void> {
  const changes = {
    amount: String(amount),
    on_reached: onReached,
    actor_issuer: setBy.issuer,
    actor_subject: setBy.subject,
    actor_role: setBy.role,
    request_id: setBy.requestId,
    updated_at: updatedAt,
  };
  await transaction
    .insertInto("spend_limits")
    .values({ subscription_id: subscriptionId, ...changes })
    .onConflict((conflict) => conflict.column("subscription_id").doUpdateSet(changes))
    .execute();
}

export async function copySpendLimit(
  transaction: Transaction<DB>,
  { from, to }: { from: string; to: string },
): Promise<void> {
  await sql`
    insert into spend_limits (subscription_id, amount, on_reached, actor_issuer, actor_subject, actor_role, request_id, updated_at)
    select ${to}, amount, on_reached, actor_issuer, actor_subject, actor_role, request_id, updated_at
    from spend_limits where subscription_id = ${from}`.execute(transaction);
}

export async function deleteSpendLimit(transaction: Transaction<DB>, subscriptionId: string): Promise<void> {
  await transaction.deleteFrom("spend_limits").where("subscription_id", "=", subscriptionId).execute();
}

/** The next subscriptions that have a limit, in the order of their ids. */
export async function findLimited(database: Kysely<DB>, after: string | null, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select subscription_id as id from spend_limits where subscription_id > coalesce(${after}::uuid, '00000000-0000-0000-0000-000000000000')
    order by subscription_id limit ${limit}`.execute(database);
  return rows.map(({ id }) => id);
}
