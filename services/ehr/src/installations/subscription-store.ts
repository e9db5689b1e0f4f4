import { type Insertable, type Kysely, type Selectable, sql, type Transaction } from "kysely";
import type { DB, Subscriptions } from "../database-schema.ts";

export type SubscriptionRow = Selectable<Subscriptions>;

export function findSubscription(
  database: Kysely<DB>,
  orgAlias: string,
  id: string,
): Promise<SubscriptionRow | undefined> {
  return database
    .selectFrom("subscriptions")
    .selectAll()
    .where("org_alias", "=", orgAlias)
    .where("id", "=", id)
    .executeTakeFirst();
}

export function findSubscriptions(database: Kysely<DB>, orgAlias: string): Promise<SubscriptionRow[]> {
  return database.selectFrom("subscriptions").selectAll().where("org_alias", "=", orgAlias).execute();
}

export function findSubscriptionTo(database: Kysely<DB>, orgAlias: string, appSlug: string) {
  return database
    .selectFrom("subscriptions")
    .select("id")
    .where("org_alias", "=", orgAlias)
    .where("app_slug", "=", appSlug)
    .limit(1)
    .executeTakeFirst();
}

export async function upsertSubscription(transaction: Transaction<DB>, row: Insertable<Subscriptions>): Promise<void> {
  const { app_slug, status, as_of } = row;
  await transaction
    .insertInto("subscriptions")
    .values(row)
    .onConflict((conflict) => conflict.columns(["org_alias", "id"]).doUpdateSet({ app_slug, status, as_of }))
    .execute();
}

export interface Derived {
  /** Of the installation, where there is none yet. */
  id: string;
  orgAlias: string;
  appSlug: string;
  now: Date;
  /** A configuration that was left behind before this is not taken up again. */
  configLeftSince: Date;
}

/** Shows the newest live subscription, and says whether there is one. Nothing is written where nothing changes. */
export async function showNewestLive(transaction: Transaction<DB>, derived: Derived): Promise<boolean> {
  const { id, orgAlias, appSlug, now, configLeftSince } = derived;
  const { rows } = await sql<{ live: boolean }>`
    with newest as (
      select subscriptions.id, status from subscriptions
      where org_alias = ${orgAlias} and app_slug = ${appSlug} and status <> 'cancelled'
      order by as_of desc, subscriptions.id desc limit 1
    ), shown as (
      insert into installations as kept (id, org_alias, app_slug, status, subscription_id, installed_at, updated_at)
      select ${id}::uuid, ${orgAlias}::text, ${appSlug}::text, newest.status, newest.id, ${now}::timestamptz, ${now}::timestamptz
      from newest
      on conflict (org_alias, app_slug) do update set
        status = excluded.status,
        subscription_id = excluded.subscription_id,
        sealed_config = case when kept.removed_at < ${configLeftSince}::timestamptz then null else kept.sealed_config end,
        installed_at = case when kept.status = 'removed' then excluded.installed_at else kept.installed_at end,
        updated_at = excluded.updated_at,
        removed_at = null
      where (kept.status, kept.subscription_id) is distinct from (excluded.status, excluded.subscription_id)
    )
    select exists (select from newest) as live`.execute(transaction);
  return rows[0]?.live === true;
}

/** It keeps its configuration for a while, for whoever subscribes again. */
export async function removeInstallation(
  transaction: Transaction<DB>,
  orgAlias: string,
  appSlug: string,
  now: Date,
): Promise<void> {
  await transaction
    .updateTable("installations")
    .set({ status: "removed", removed_at: now, updated_at: now })
    .where("org_alias", "=", orgAlias)
    .where("app_slug", "=", appSlug)
    .where("status", "<>", "removed")
    .execute();
}

export async function deleteRemovedBefore(database: Kysely<DB>, before: Date): Promise<void> {
  await database.deleteFrom("installations").where("status", "=", "removed").where("removed_at", "<", before).execute();
}
