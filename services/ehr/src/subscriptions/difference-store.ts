import type { PageSlice } from "@ehr-marketplace/service-kit/http";
import { type Insertable, type Kysely, type Selectable, sql, type Transaction } from "kysely";
import type { DB, Differences } from "../database-schema.ts";

export interface DifferenceRow extends Selectable<Differences> {
  stored_status: string;
  stored_pause_reason: string | null;
}

/** Those whose subscription still has the stored state that they are about. */
const unsettled = (database: Kysely<DB>) =>
  database
    .selectFrom("differences")
    .innerJoin("subscriptions", (join) =>
      join
        .onRef("subscriptions.org_alias", "=", "differences.org_alias")
        .onRef("subscriptions.id", "=", "differences.subscription_id")
        .onRef("subscriptions.as_of", "=", "differences.stored_as_of"),
    )
    .selectAll("differences")
    .select(["subscriptions.status as stored_status", "subscriptions.pause_reason as stored_pause_reason"]);

export function findDifference(database: Kysely<DB>, id: string): Promise<DifferenceRow | undefined> {
  return unsettled(database).where("differences.id", "=", id).executeTakeFirst();
}

/** The newest first. */
export function findDifferences(
  database: Kysely<DB>,
  { areKept }: { areKept: boolean },
  { after, limit }: PageSlice,
): Promise<DifferenceRow[]> {
  let query = unsettled(database).where("kept_at", areKept ? "is not" : "is", null);
  if (after !== undefined) {
    query = query.where(sql<boolean>`(found_at, differences.id) < (${after.at}::timestamptz, ${after.id}::uuid)`);
  }
  return query.orderBy("found_at", "desc").orderBy("differences.id", "desc").limit(limit).execute();
}

/** The subscriptions of an organisation that have one. */
export async function findDifferingSubscriptions(database: Kysely<DB>, orgAlias: string): Promise<Set<string>> {
  const rows = await database
    .selectFrom("differences")
    .select("subscription_id")
    .where("org_alias", "=", orgAlias)
    .execute();
  return new Set(rows.map(({ subscription_id }) => subscription_id));
}

/** A difference that is stored already stays as it is, also if it was kept. */
export async function upsertDifference(transaction: Transaction<DB>, row: Insertable<Differences>): Promise<void> {
  const { org_alias: _alias, subscription_id: _subscription, ...changes } = row;
  await transaction
    .insertInto("differences")
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(["org_alias", "subscription_id"])
        .doUpdateSet({ ...changes, kept_at: null })
        .where(
          sql<boolean>`(differences.app_slug, differences.status, differences.as_of, differences.stored_as_of)
            is distinct from (excluded.app_slug, excluded.status, excluded.as_of, excluded.stored_as_of)`,
        ),
    )
    .execute();
}

export async function keepDifference(transaction: Transaction<DB>, id: string, now: Date): Promise<void> {
  await transaction.updateTable("differences").set({ kept_at: now }).where("id", "=", id).execute();
}

export async function deleteDifferences(database: Kysely<DB>, orgAlias: string, ids: string[]): Promise<void> {
  await database
    .deleteFrom("differences")
    .where("org_alias", "=", orgAlias)
    .where("subscription_id", "=", sql<string>`any (${ids}::uuid[])`)
    .execute();
}

/** Those that wait for an operator. */
export async function countDifferences(database: Kysely<DB>): Promise<number> {
  const found = await unsettled(database)
    .clearSelect()
    .select((row) => row.fn.countAll<string>().as("count"))
    .where("kept_at", "is", null)
    .executeTakeFirstOrThrow();
  return Number(found.count);
}
