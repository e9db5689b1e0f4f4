import { type Kysely, type NotNull, sql, type Transaction, type Updateable } from "kysely";
import type { DB, Installations } from "../database-schema.ts";

/**
 * With what the marketplace says of its app, which is known: only confirmed subscriptions make an installation. Each app is looked up by
 * itself: with wrong statistics PostgreSQL would begin with the apps, and read the installations of all organisations.
 */
const installed = (database: Kysely<DB>, orgAlias: string) =>
  database
    .selectFrom("installations")
    .innerJoinLateral(
      (from) => from.selectFrom("apps").selectAll().whereRef("slug", "=", "installations.app_slug").limit(1).as("apps"),
      (join) => join.onTrue(),
    )
    .select(["installations.id", "installations.app_slug", "installations.status", "installations.subscription_id"])
    .select(["installations.sealed_config", "installations.installed_at", "installations.updated_at"])
    .select("installations.config_secrets as earlier_secrets")
    .select(["apps.id as app_id", "apps.name", "apps.icon_url", "apps.category", "apps.extension_points"])
    .select(["apps.smart_launch_url", "apps.fhir_scopes", "apps.config_secrets"])
    .$narrowType<{ app_id: NotNull; name: NotNull; icon_url: NotNull; category: NotNull; extension_points: NotNull }>()
    .$narrowType<{ fhir_scopes: NotNull }>()
    .where("installations.org_alias", "=", orgAlias)
    .where("installations.status", "<>", "removed");

export type InstallationRow = Awaited<ReturnType<typeof findInstallations>>[number];

export function findInstallations(database: Kysely<DB>, orgAlias: string) {
  return installed(database, orgAlias).execute();
}

/** With what its configuration is checked against. */
export function findConfigured(database: Kysely<DB>, orgAlias: string, appSlug: string) {
  return installed(database, orgAlias)
    .select(["apps.config_schema", "apps.schema_problem"])
    .where("installations.app_slug", "=", appSlug)
    .executeTakeFirst();
}

/** Whether there is a schema, or the catalog is known to have none because it lacks the app. */
export function findSchemaState(database: Kysely<DB>, orgAlias: string, appSlug: string) {
  return installed(database, orgAlias)
    .clearSelect()
    .select([
      "apps.schema_known as isSchemaKnown",
      "apps.fetched_at as fetchedAt",
      "apps.catalog_absent_at as absentAt",
    ])
    .where("installations.app_slug", "=", appSlug)
    .executeTakeFirst();
}

/** The same, until the transaction ends: nobody else changes it. */
export function lockConfigured(transaction: Transaction<DB>, orgAlias: string, appSlug: string) {
  return installed(transaction, orgAlias)
    .select(["apps.config_schema", "apps.schema_problem"])
    .where("installations.app_slug", "=", appSlug)
    .forUpdate("installations")
    .executeTakeFirst();
}

/** Of the organisation's other installations, removed ones included: their configurations come back with a new subscription. */
export async function sumOtherConfigBytes(transaction: Transaction<DB>, orgAlias: string, id: string): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select coalesce(sum(octet_length(sealed_config)), 0)::integer as bytes
    from installations where org_alias = ${orgAlias} and id <> ${id}`.execute(transaction);
  return rows[0]?.bytes ?? 0;
}

export async function updateInstallation(
  transaction: Transaction<DB>,
  id: string,
  changes: Updateable<Installations>,
): Promise<void> {
  await transaction.updateTable("installations").set(changes).where("id", "=", id).execute();
}

/** Those that another version sealed, for whoever seals them anew. */
export function lockSealedOtherwise(transaction: Transaction<DB>, version: number, limit: number) {
  return transaction
    .selectFrom("installations")
    .select("id")
    .select((row) => row.ref("sealed_config").$notNull().as("sealed_config"))
    .where("sealed_config", "not like", `${version}.%`)
    .orderBy("id")
    .limit(limit)
    .forNoKeyUpdate()
    .execute();
}
