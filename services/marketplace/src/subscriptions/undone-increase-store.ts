import { type Kysely, sql, type Transaction } from "kysely";
import type { DB } from "../database-schema.ts";

/** The terms that ended since a time, in order. */
export async function findEndedTerms(
  database: Kysely<DB>,
  subscriptionId: string,
  since: Date,
): Promise<{ endedAt: Date; planId: string; quantity: number | null }[]> {
  const { rows } = await sql<{ endedAt: Date; planId: string; quantity: number | null }>`
    select ended_at as "endedAt", pricing_plan_id as "planId", quantity from ended_terms
    where subscription_id = ${subscriptionId} and ended_at >= ${since} order by ended_at`.execute(database);
  return rows;
}

/** When an organisation last took back an increase of an app that counts as never made. */
export async function findLastUndone(
  database: Kysely<DB>,
  { organisationId, appId }: { organisationId: string; appId: string },
): Promise<Date | null> {
  const { rows } = await sql<{ last: Date | null }>`
    select max(to_at) as last from undone_increases join subscriptions on subscriptions.id = subscription_id
    where organisation_id = ${organisationId} and app_id = ${appId}`.execute(database);
  return rows[0]?.last ?? null;
}

export async function insertUndoneIncrease(
  transaction: Transaction<DB>,
  { subscriptionId, from, to }: { subscriptionId: string; from: Date; to: Date },
): Promise<void> {
  await transaction
    .insertInto("undone_increases")
    .values({ subscription_id: subscriptionId, from_at: from, to_at: to })
    .execute();
}
