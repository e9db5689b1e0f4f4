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

export function findConfirmedSubscriptionTo(database: Kysely<DB>, orgAlias: string, appSlug: string) {
  return database
    .selectFrom("subscriptions")
    .select("id")
    .where("org_alias", "=", orgAlias)
    .where("app_slug", "=", appSlug)
    .where("confirmed_at", "is not", null)
    .limit(1)
    .executeTakeFirst();
}

/** Without `epoch`, it is the newest that a list came from. */
export async function upsertSubscription(
  transaction: Transaction<DB>,
  { epoch, ...row }: Omit<Insertable<Subscriptions>, "epoch"> & { epoch: number | undefined },
): Promise<void> {
  const { org_alias: _alias, id: _id, ...columns } = row;
  const changes = {
    ...columns,
    epoch: epoch ?? sql<number>`coalesce((select number from marketplace_epoch), 0)`,
  };
  await transaction
    .insertInto("subscriptions")
    .values({ ...row, ...changes })
    .onConflict((conflict) => conflict.columns(["org_alias", "id"]).doUpdateSet(changes))
    .execute();
}

export interface SubscriptionCounts {
  all: number;
  live: number;
}

/** Counts an organisation's subscriptions, reading at most `limit` rows; ordered by the primary key, so that its index is used. */
export async function countSubscriptions(
  database: Kysely<DB>,
  orgAlias: string,
  limit: number,
): Promise<SubscriptionCounts> {
  const { rows } = await sql<SubscriptionCounts>`
    select count(*)::integer as "all", count(*) filter (where status <> 'cancelled')::integer as live
    from (select status from subscriptions where org_alias = ${orgAlias} order by id limit ${limit}) counted`.execute(
    database,
  );
  return rows[0] ?? { all: 0, live: 0 };
}

/** The condition has no parameters: a generic plan could otherwise not use the partial index. */
const unconfirmed = (database: Kysely<DB>) =>
  database.selectFrom("subscriptions").where(sql<boolean>`confirmed_at is null and status <> 'cancelled'`);

const unlisted = (database: Kysely<DB>) =>
  database.selectFrom("subscriptions").where(sql<boolean>`listed_at is null and status <> 'cancelled'`);

type FindOrganisations = (database: Kysely<DB>, appSlug: string, after: string, limit: number) => Promise<string[]>;

const organisationsAmong =
  (subscriptions: typeof unconfirmed): FindOrganisations =>
  async (database, appSlug, after, limit) => {
    const rows = await subscriptions(database)
      .select("org_alias")
      .where("app_slug", "=", appSlug)
      .where("org_alias", ">", after)
      .distinct()
      .orderBy("org_alias")
      .limit(limit)
      .execute();
    return rows.map(({ org_alias }) => org_alias);
  };

/** The organisations with an unconfirmed live subscription to the app, by alias. */
export const findUnconfirmedOrganisations = organisationsAmong(unconfirmed);

/** The organisations with a live subscription to the app that the marketplace never listed, by alias. */
export const findUnlistedOrganisations = organisationsAmong(unlisted);

/**
 * At most `limit` organisations with a live subscription to the app; those that have it installed first. Both lists are read by an index: a
 * confirmed live subscription has an installation.
 */
export async function findSubscribedOrganisations(
  database: Kysely<DB>,
  appSlug: string,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ org_alias: string }>`
    select org_alias from (
      (select org_alias, 1 as priority from installations
        where app_slug = ${appSlug} and status <> 'removed' limit ${limit})
      union all
      (select distinct org_alias, 2 from subscriptions
        where app_slug = ${appSlug} and confirmed_at is null and status <> 'cancelled' order by org_alias limit ${limit})
    ) subscribed group by org_alias order by min(priority), org_alias limit ${limit}`.execute(database);
  return rows.map(({ org_alias }) => org_alias);
}

/** The app's catalog state, if the organisation has an unconfirmed live subscription to it. */
export function findUnconfirmedApp(database: Kysely<DB>, orgAlias: string, appSlug: string) {
  return unconfirmed(database)
    .innerJoin("apps", "apps.slug", "app_slug")
    .select(["apps.fetched_at as fetchedAt", "apps.catalog_absent_at as absentAt"])
    .select(sql<boolean>`apps.schema_known and apps.catalog_absent_at is null`.as("isInCatalog"))
    .where("org_alias", "=", orgAlias)
    .where("app_slug", "=", appSlug)
    .limit(1)
    .executeTakeFirst();
}

/** Confirms the organisation's live subscriptions to an app that the catalog has; returns whether there were any. */
export async function confirmLive(
  transaction: Transaction<DB>,
  orgAlias: string,
  appSlug: string,
  now: Date,
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update subscriptions set confirmed_at = ${now}
    where org_alias = ${orgAlias} and app_slug = ${appSlug} and confirmed_at is null and status <> 'cancelled'
      and exists (select from apps where slug = ${appSlug} and schema_known and catalog_absent_at is null)`.execute(
    transaction,
  );
  return numAffectedRows > 0n;
}

/** Unconfirms live subscriptions to an app that the catalog no longer has, unless the marketplace listed them; returns whether there were any. */
export async function unconfirmUnlisted(
  transaction: Transaction<DB>,
  orgAlias: string,
  appSlug: string,
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update subscriptions set confirmed_at = null
    where org_alias = ${orgAlias} and app_slug = ${appSlug} and status <> 'cancelled'
      and confirmed_at is not null and listed_at is null
      and exists (select from apps where slug = ${appSlug} and catalog_absent_at is not null)`.execute(transaction);
  return numAffectedRows > 0n;
}

/** Updates only subscriptions that are stored with the listed app. */
export async function updateListed(
  transaction: Transaction<DB>,
  orgAlias: string,
  listed: { id: string; appSlug: string }[],
  now: Date,
): Promise<void> {
  await sql`
    update subscriptions set listed_at = ${now}
    from unnest(${listed.map(({ id }) => id)}::uuid[], ${listed.map(({ appSlug }) => appSlug)}::text[]) as given (id, slug)
    where org_alias = ${orgAlias} and subscriptions.id = given.id and app_slug = given.slug and listed_at is null`.execute(
    transaction,
  );
}

/** Live subscriptions to apps that the catalog doesn't have, and that the marketplace never listed. */
export async function countQuarantined(database: Kysely<DB>): Promise<number> {
  const found = await unconfirmed(database)
    .innerJoin("apps", "apps.slug", "app_slug")
    .select((row) => row.fn.countAll<string>().as("count"))
    .where("apps.catalog_absent_at", "is not", null)
    .executeTakeFirstOrThrow();
  return Number(found.count);
}
