import { type Kysely, sql, type Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import type { Month } from "./month.ts";

/** A month in which usage was refused, and how far the limit has to be raised before the subscription is resumed in it. */
export interface StoredReachedLimit {
  month: Month;
  leastAmount: bigint;
}

export async function findReachedLimit(
  database: Kysely<DB>,
  subscriptionId: string,
): Promise<StoredReachedLimit | undefined> {
  const { rows } = await sql<{ month: Month; leastAmount: string }>`
    select to_char(month, 'YYYY-MM') as month, least_amount as "leastAmount" from reached_limits
    where subscription_id = ${subscriptionId}`.execute(database);
  return rows.map(({ month, leastAmount }) => ({ month, leastAmount: BigInt(leastAmount) }))[0];
}

export async function upsertReachedLimit(
  transaction: Transaction<DB>,
  subscriptionId: string,
  { month, leastAmount }: StoredReachedLimit,
): Promise<void> {
  await sql`
    insert into reached_limits (subscription_id, month, least_amount)
    values (${subscriptionId}, ${`${month}-01`}::date, ${String(leastAmount)}::numeric)
    on conflict (subscription_id) do update set month = excluded.month, least_amount = excluded.least_amount`.execute(
    transaction,
  );
}

export async function copyReachedLimit(
  transaction: Transaction<DB>,
  { from, to }: { from: string; to: string },
): Promise<void> {
  await sql`
    insert into reached_limits (subscription_id, month, least_amount)
    select ${to}, month, least_amount from reached_limits where subscription_id = ${from}`.execute(transaction);
}
