import { type Kysely, sql, type Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import type { Month } from "./month.ts";

export interface NewCredit {
  id: string;
  subscriptionId: string;
  month: Month;
  amount: number;
  text: string;
  /** What the account was charged in the month so far and in the three before it. */
  charged: bigint;
  now: Date;
}

/** A trigger refuses more than was charged, whoever else gives one at the same time. */
export async function insertCredit(
  transaction: Transaction<DB>,
  { id, subscriptionId, month, amount, text, charged, now }: NewCredit,
): Promise<void> {
  await sql`
    insert into credits (id, subscription_id, month, amount, text, charged, created_at)
    values (${id}, ${subscriptionId}, ${`${month}-01`}::date, ${amount}, ${text}, ${String(charged)}::numeric, ${now})`.execute(
    transaction,
  );
}

export interface CreditRow {
  id: string;
  subscriptionId: string;
  amount: string;
  text: string;
}

/** In the order in which they were given. */
export async function findCredits(
  database: Kysely<DB>,
  subscriptionIds: readonly string[],
  month: Month,
): Promise<CreditRow[]> {
  const { rows } = await sql<CreditRow>`
    select id, subscription_id as "subscriptionId", amount::text, text from credits
    where month = ${`${month}-01`}::date and subscription_id = any (${[...subscriptionIds]}::uuid[])
    order by subscription_id, number`.execute(database);
  return rows;
}
