import { everything } from "@ehr-marketplace/config-schema";
import type { EventApp } from "@ehr-marketplace/contracts";
import { type Kysely, sql, type Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import type { CatalogApp } from "./marketplace-catalog.ts";

export interface AppRow {
  slug: string;
  /** Whether the app's fields are stored, from the catalog or from the marketplace's list of subscriptions. */
  hasFacts: boolean;
  /** Whether the catalog's last response contained the app. */
  isInCatalog: boolean;
  /** When the newest stored response was requested from the catalog, also if it was 404. */
  fetchedAt: Date | null;
  /** The ETag of that response, for a conditional request. */
  etag: string | null;
  fhirScopes: string | null;
}

const selectAppRow = (database: Kysely<DB>, slug: string) =>
  database
    .selectFrom("apps")
    .select(["slug", "fetched_at as fetchedAt", "catalog_etag as etag", "fhir_scopes as fhirScopes"])
    .select((row) => row("id", "is not", null).as("hasFacts"))
    .select(sql<boolean>`schema_known and catalog_absent_at is null`.as("isInCatalog"))
    .$castTo<AppRow>()
    .where("slug", "=", slug);

export function findApp(database: Kysely<DB>, slug: string): Promise<AppRow | undefined> {
  return selectAppRow(database, slug).executeTakeFirst();
}

/** Locks the app's row in share mode: no fetch stores its result until the transaction ends. */
export function lockApp(transaction: Transaction<DB>, slug: string): Promise<AppRow> {
  return selectAppRow(transaction, slug).forShare().executeTakeFirstOrThrow();
}

/** Inserts a row with the slug only, which subscriptions can refer to. */
export async function insertAppSlug(transaction: Transaction<DB>, slug: string, now: Date): Promise<void> {
  await transaction
    .insertInto("apps")
    .values({ slug, updated_at: now })
    .onConflict((conflict) => conflict.column("slug").doNothing())
    .execute();
}

/** Another process may have fetched the app meanwhile: a response never replaces one that was requested later. */
const updateFetched = (database: Kysely<DB>, slug: string, requestedAt: Date) =>
  database
    .updateTable("apps")
    .where("slug", "=", slug)
    .where((is) => is.or([is("fetched_at", "is", null), is("fetched_at", "<=", requestedAt)]));

/** Stores the catalog's response, which replaces the stored fields. */
export async function replaceApp(
  database: Kysely<DB>,
  { app, cdsServicesUrl, schema, etag }: CatalogApp,
  requestedAt: Date,
): Promise<void> {
  await updateFetched(database, app.slug, requestedAt)
    .set({
      id: app.id,
      name: app.name,
      icon_url: app.iconUrl,
      category: app.category,
      extension_points: app.extensionPoints,
      smart_launch_url: app.smartLaunchUrl,
      cds_services_url: cdsServicesUrl,
      fhir_scopes: app.fhirScopes,
      config_schema: schema.text,
      schema_known: true,
      schema_problem: schema.problem,
      config_secrets: schema.secrets === null ? null : JSON.stringify(schema.secrets),
      catalog_etag: etag,
      catalog_absent_at: null,
      fetched_at: requestedAt,
      updated_at: requestedAt,
    })
    .execute();
}

export async function markUnchanged(database: Kysely<DB>, slug: string, requestedAt: Date): Promise<void> {
  await updateFetched(database, slug, requestedAt).set({ fetched_at: requestedAt, catalog_absent_at: null }).execute();
}

/** The stored fields stay. The ETag is cleared, so that the catalog sends the app in full once it has it again. */
export async function markAbsent(database: Kysely<DB>, slug: string, requestedAt: Date): Promise<void> {
  await updateFetched(database, slug, requestedAt)
    .set({ fetched_at: requestedAt, catalog_absent_at: requestedAt, catalog_etag: null })
    .execute();
}

/**
 * Stores an app from the marketplace's list of subscriptions, unless the catalog has the app. Until a schema is read, every value of a
 * configuration counts as secret, because the schema may mark any of them.
 */
export async function upsertListedApp(database: Kysely<DB>, app: EventApp, now: Date): Promise<void> {
  await sql`
    insert into apps as known (slug, id, name, icon_url, category, extension_points, smart_launch_url, fhir_scopes,
      config_secrets, updated_at)
    values (${app.slug}, ${app.id}, ${app.name}, ${app.iconUrl}, ${app.category}, ${app.extensionPoints},
      ${app.smartLaunchUrl}, ${app.fhirScopes}, ${JSON.stringify([everything])}, ${now})
    on conflict (slug) do update set id = excluded.id, name = excluded.name, icon_url = excluded.icon_url,
      category = excluded.category, extension_points = excluded.extension_points,
      smart_launch_url = excluded.smart_launch_url, fhir_scopes = excluded.fhir_scopes,
      config_secrets = case when known.schema_known then known.config_secrets else excluded.config_secrets end,
      updated_at = excluded.updated_at
    where (known.id is null or known.catalog_absent_at is not null)
      and (known.id, known.name, known.icon_url, known.category, known.extension_points, known.smart_launch_url,
        known.fhir_scopes)
      is distinct from (excluded.id, excluded.name, excluded.icon_url, excluded.category, excluded.extension_points,
        excluded.smart_launch_url, excluded.fhir_scopes)`.execute(database);
}

/**
 * Finds, by slug, the installed apps that were fetched before `before`, and the apps of unconfirmed subscriptions. An app that the catalog
 * doesn't have is due once its last fetch is older than `absentBefore`.
 */
export function findStaleApps(
  database: Kysely<DB>,
  { before, absentBefore }: { before: Date; absentBefore: Date },
  after: string,
  limit: number,
) {
  // `offset 0` keeps PostgreSQL from hashing the whole table instead of looking each app up.
  const isInstalled = sql<boolean>`exists (
    select from installations where app_slug = apps.slug and status <> 'removed' offset 0)`;
  const isAwaited = sql<boolean>`exists (
    select from subscriptions where app_slug = apps.slug and confirmed_at is null and status <> 'cancelled' offset 0)`;
  return database
    .selectFrom("apps")
    .select("slug")
    .select(isAwaited.as("isAwaited"))
    .where("slug", ">", after)
    .where(sql<boolean>`(
      ((fetched_at is null or fetched_at < ${before}) and ${isInstalled})
      or ((catalog_absent_at is null or fetched_at < ${absentBefore}) and ${isAwaited}))`)
    .orderBy("slug")
    .limit(limit)
    .execute();
}
