import type { EventApp } from "@ehr-marketplace/contracts";
import { type Insertable, type Kysely, type Selectable, sql, type Transaction } from "kysely";
import { appFields } from "../apps/app-fields.ts";
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
  /** What a subscription's event says of the app, where the catalog has not been read; kept where that subscription is shown. */
  told: { subscriptionId: string; app: EventApp } | undefined;
  now: Date;
  /** A configuration that was left behind before this is not taken up again. */
  configLeftSince: Date;
}

/** Shows the newest live subscription, and says whether there is one. Nothing is written where nothing changes. */
export async function showNewestLive(transaction: Transaction<DB>, derived: Derived): Promise<boolean> {
  const { id, orgAlias, appSlug, told, now, configLeftSince } = derived;
  const asTold = told === undefined ? null : wellFormedJson(appFields(told.app));
  const { rows } = await sql<{ live: boolean }>`
    with newest as (
      select subscriptions.id, status,
        case when subscriptions.id = ${told?.subscriptionId ?? null}::uuid then ${asTold}::jsonb end as told
      from subscriptions
      where org_alias = ${orgAlias} and app_slug = ${appSlug} and status <> 'cancelled'
      order by as_of desc, subscriptions.id desc limit 1
    ), shown as (
      insert into installations as kept (id, org_alias, app_slug, status, subscription_id, installed_at, updated_at, app_as_told)
      select ${id}::uuid, ${orgAlias}::text, ${appSlug}::text, newest.status, newest.id, ${now}::timestamptz, ${now}::timestamptz,
        newest.told
      from newest
      on conflict (org_alias, app_slug) do update set
        status = excluded.status,
        subscription_id = excluded.subscription_id,
        sealed_config = case when kept.removed_at < ${configLeftSince}::timestamptz then null else kept.sealed_config end,
        config_secrets = case when kept.removed_at < ${configLeftSince}::timestamptz then null else kept.config_secrets end,
        installed_at = case when kept.status = 'removed' then excluded.installed_at else kept.installed_at end,
        updated_at = excluded.updated_at,
        removed_at = null,
        app_as_told = coalesce(excluded.app_as_told, kept.app_as_told)
      where (kept.status, kept.subscription_id, kept.app_as_told) is distinct from
        (excluded.status, excluded.subscription_id, coalesce(excluded.app_as_told, kept.app_as_told))
    )
    select exists (select from newest) as live`.execute(transaction);
  return rows[0]?.live === true;
}

/** PostgreSQL's JSON has no half of a surrogate pair, which JavaScript's has. */
const wellFormedJson = (app: EventApp): string =>
  JSON.stringify(app, (_key, value: unknown) => (typeof value === "string" ? value.toWellFormed() : value));

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

/** Locked first, so that none goes that somebody is just installing again. */
export async function deleteRemovedBefore(database: Kysely<DB>, before: Date, most: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from installations where id in (
      select id from installations where status = 'removed' and removed_at < ${before}
      order by removed_at limit ${most} for update skip locked
    )`.execute(database);
  return Number(numAffectedRows);
}
