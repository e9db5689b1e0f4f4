import { type Kysely, type NotNull, sql, type Transaction, type Updateable } from "kysely";
import type { DB, Installations } from "../database-schema.ts";

interface ClientColumns {
  status: string;
  client_id: string | null;
  registered_sha256: string | null;
  attempt: string | null;
  reason: string | null;
}

/** The organisation's client or, if there is none, the one for all. One that is being removed isn't the installation's. */
const installedClient = sql<ClientColumns>`(
  select status, client_id, registered_sha256, attempt, reason from (
    (select status, client_id, registered_sha256, attempt, reason, 1 as priority from clients
      where clients.app_slug = installations.app_slug and clients.org_alias = installations.org_alias
        and status <> 'removing' limit 1)
    union all
    (select status, client_id, registered_sha256, attempt, reason, 2 from clients
      where clients.app_slug = installations.app_slug and clients.org_alias is null and status <> 'removing' limit 1)
  ) found order by priority limit 1)`.as<"client">("client");

/**
 * Selects installations with the fields of their apps, which are known: only confirmed subscriptions make an installation. The lateral join
 * looks up each app: with stale statistics a plain join could begin with the apps, and read the installations of all organisations.
 */
const selectInstalled = (database: Kysely<DB>, orgAlias: string) =>
  database
    .selectFrom("installations")
    .innerJoinLateral(
      (from) => from.selectFrom("apps").selectAll().whereRef("slug", "=", "installations.app_slug").limit(1).as("apps"),
      (join) => join.onTrue(),
    )
    .innerJoinLateral(
      (from) =>
        from
          .selectFrom("subscriptions")
          .select("subscriptions.fhir_scopes as agreed_scopes")
          .whereRef("subscriptions.org_alias", "=", "installations.org_alias")
          .whereRef("subscriptions.id", "=", "installations.subscription_id")
          .limit(1)
          .as("subscribed"),
      (join) => join.onTrue(),
    )
    .leftJoinLateral(installedClient, (join) => join.onTrue())
    .select(["client.status as client_status", "client.client_id", "client.attempt as client_attempt"])
    .select("client.registered_sha256 as client_sha256")
    .select("client.reason as client_reason")
    .select(["installations.id", "installations.app_slug", "installations.status", "installations.subscription_id"])
    .select(["installations.encrypted_config", "installations.installed_at", "installations.updated_at"])
    .select("installations.config_secrets as earlier_secrets")
    .select(["apps.id as app_id", "apps.name", "apps.icon_url", "apps.category", "apps.extension_points"])
    .select(["apps.smart_launch_url", "apps.cds_services_url", "apps.fhir_scopes", "apps.config_secrets"])
    .select("subscribed.agreed_scopes")
    .$narrowType<{ app_id: NotNull; name: NotNull; icon_url: NotNull; category: NotNull; extension_points: NotNull }>()
    .$narrowType<{ fhir_scopes: NotNull }>()
    .where("installations.org_alias", "=", orgAlias)
    .where("installations.status", "<>", "removed");

export type InstallationRow = Awaited<ReturnType<typeof findInstallations>>[number];

export function findInstallations(database: Kysely<DB>, orgAlias: string) {
  return selectInstalled(database, orgAlias).execute();
}

/** The installation with the schema of its configuration. */
export function findInstallationConfig(database: Kysely<DB>, orgAlias: string, appSlug: string) {
  return selectInstalled(database, orgAlias)
    .select(["apps.config_schema", "apps.schema_problem"])
    .where("installations.app_slug", "=", appSlug)
    .executeTakeFirst();
}

/** Whether the schema was read, and when the catalog was found not to have the app. */
export function findSchemaState(database: Kysely<DB>, orgAlias: string, appSlug: string) {
  return selectInstalled(database, orgAlias)
    .clearSelect()
    .select([
      "apps.schema_known as isSchemaKnown",
      "apps.fetched_at as fetchedAt",
      "apps.catalog_absent_at as absentAt",
    ])
    .where("installations.app_slug", "=", appSlug)
    .executeTakeFirst();
}

/** Finds the installation with the schema of its configuration, and locks its row until the transaction ends. */
export function lockInstallationConfig(transaction: Transaction<DB>, orgAlias: string, appSlug: string) {
  return selectInstalled(transaction, orgAlias)
    .select(["apps.config_schema", "apps.schema_problem"])
    .where("installations.app_slug", "=", appSlug)
    .forUpdate("installations")
    .executeTakeFirst();
}

/** Includes removed installations: a new subscription restores their configurations. */
export async function sumOtherConfigBytes(transaction: Transaction<DB>, orgAlias: string, id: string): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select coalesce(sum(octet_length(encrypted_config)), 0)::integer as bytes
    from installations where org_alias = ${orgAlias} and id <> ${id}`.execute(transaction);
  return rows[0]?.bytes ?? 0;
}

export interface DerivedInstallation {
  /** The id of a new installation, if there is none yet. */
  id: string;
  orgAlias: string;
  appSlug: string;
  now: Date;
  /** The subscription whose agreed scopes have changed, if any. */
  rescopedId: string | null;
  /** The configuration of an installation that was removed before this is deleted. */
  retentionCutoff: Date;
}

export interface UpsertedInstallation {
  isInstalled: boolean;
  /** Whether it was installed before, by the same subscription. */
  isUnchanged: boolean;
}

/** Derives the installation from the newest confirmed live subscription, if there is one. Writes only changes. */
export async function upsertInstallation(
  transaction: Transaction<DB>,
  derived: DerivedInstallation,
): Promise<UpsertedInstallation> {
  const { id, orgAlias, appSlug, now, rescopedId, retentionCutoff } = derived;
  const { rows } = await sql<UpsertedInstallation>`
    with newest as (
      select subscriptions.id, status
      from subscriptions
      where org_alias = ${orgAlias} and app_slug = ${appSlug} and status <> 'cancelled' and confirmed_at is not null
      order by as_of desc, subscriptions.id desc limit 1
    ), before as (
      select subscription_id from installations
      where org_alias = ${orgAlias} and app_slug = ${appSlug} and status <> 'removed'
    ), shown as (
      insert into installations as kept (id, org_alias, app_slug, status, subscription_id, installed_at, updated_at)
      select ${id}::uuid, ${orgAlias}::text, ${appSlug}::text, newest.status, newest.id, ${now}::timestamptz, ${now}::timestamptz
      from newest
      on conflict (org_alias, app_slug) do update set
        status = excluded.status,
        subscription_id = excluded.subscription_id,
        encrypted_config = case when kept.removed_at < ${retentionCutoff}::timestamptz then null else kept.encrypted_config end,
        config_secrets = case when kept.removed_at < ${retentionCutoff}::timestamptz then null else kept.config_secrets end,
        installed_at = case when kept.status = 'removed' then excluded.installed_at else kept.installed_at end,
        updated_at = excluded.updated_at,
        removed_at = null,
        reported_version = case when kept.subscription_id = excluded.subscription_id then kept.reported_version end
      where (kept.status, kept.subscription_id) is distinct from (excluded.status, excluded.subscription_id)
        or excluded.subscription_id = ${rescopedId}::uuid
    )
    select exists (select from newest) as "isInstalled",
      exists (select from newest join before on before.subscription_id = newest.id) as "isUnchanged"`.execute(
    transaction,
  );
  return rows[0] ?? { isInstalled: false, isUnchanged: false };
}

/** The configuration is kept for the retention, so that a new subscription restores it. Returns whether there was an installation. */
export async function removeInstallation(
  transaction: Transaction<DB>,
  orgAlias: string,
  appSlug: string,
  now: Date,
): Promise<boolean> {
  const removed = await transaction
    .updateTable("installations")
    .set({ status: "removed", removed_at: now, updated_at: now })
    .where("org_alias", "=", orgAlias)
    .where("app_slug", "=", appSlug)
    .where("status", "<>", "removed")
    .returning("id")
    .execute();
  return removed.length > 0;
}

export async function updateInstallation(
  transaction: Transaction<DB>,
  id: string,
  changes: Updateable<Installations>,
): Promise<void> {
  await transaction.updateTable("installations").set(changes).where("id", "=", id).execute();
}

/** Locks installations whose configuration is encrypted with another key version. */
export function lockConfigsToReencrypt(transaction: Transaction<DB>, version: number, limit: number) {
  return transaction
    .selectFrom("installations")
    .select("id")
    .select((row) => row.ref("encrypted_config").$notNull().as("encrypted_config"))
    .where("encrypted_config", "not like", `${version}.%`)
    .orderBy("id")
    .limit(limit)
    .forNoKeyUpdate()
    .execute();
}

/** Skips locked rows: those are being installed again. */
export async function deleteRemovedBefore(database: Kysely<DB>, before: Date, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from installations where id = any(array(
      select id from installations where status = 'removed' and removed_at < ${before}
      order by removed_at limit ${limit} for update skip locked
    ))`.execute(database);
  return Number(numAffectedRows);
}
