import type { EventApp } from "@ehr-marketplace/contracts";
import { type Kysely, sql, type Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import type { CatalogApp } from "./marketplace-catalog.ts";

interface KnownApp extends EventApp {
  asOf: Date;
  schemaKnown: boolean;
}

export async function findKnownApp(database: Kysely<DB>, slug: string): Promise<KnownApp | undefined> {
  return database
    .selectFrom("apps")
    .select(["id", "slug", "name", "icon_url as iconUrl", "category", "extension_points as extensionPoints"])
    .select(["smart_launch_url as smartLaunchUrl", "fhir_scopes as fhirScopes"])
    .select(["as_of as asOf", "schema_known as schemaKnown"])
    .where("slug", "=", slug)
    .executeTakeFirst();
}

export async function findKnownSlugs(database: Kysely<DB>, slugs: string[]): Promise<string[]> {
  const rows = await database.selectFrom("apps").select("slug").where("slug", "in", slugs).execute();
  return rows.map(({ slug }) => slug);
}

const columnsOf = (app: EventApp) => ({
  id: app.id,
  name: app.name,
  icon_url: app.iconUrl,
  category: app.category,
  extension_points: app.extensionPoints,
  smart_launch_url: app.smartLaunchUrl,
  fhir_scopes: app.fhirScopes,
});

/** Inserts it, or replaces what is older. What the catalog answered before is then no longer known to be the same. */
export async function upsertApp(transaction: Transaction<DB>, app: EventApp, asOf: Date, now: Date): Promise<void> {
  const columns = columnsOf(app);
  await transaction
    .insertInto("apps")
    .values({ slug: app.slug, ...columns, as_of: asOf, updated_at: now })
    .onConflict((conflict) =>
      conflict
        .column("slug")
        .doUpdateSet({ ...columns, as_of: asOf, etag: null, updated_at: now })
        .where(sql<boolean>`apps.as_of < excluded.as_of`),
    )
    .execute();
}

export function findEtag(database: Kysely<DB>, slug: string) {
  return database.selectFrom("apps").select("etag").where("slug", "=", slug).executeTakeFirst();
}

/** Takes over what the catalog says. Where an event has said something newer meanwhile, only the schema, and it is asked for whole next time. */
export async function replaceApp(
  transaction: Transaction<DB>,
  { app, schema, etag }: CatalogApp,
  asOf: Date,
  now: Date,
): Promise<void> {
  const read = {
    config_schema: schema.text,
    schema_known: true,
    schema_problem: schema.problem,
    config_secrets: schema.secrets === null ? null : JSON.stringify(schema.secrets),
    fetched_at: now,
    updated_at: now,
  };
  const { numUpdatedRows } = await transaction
    .updateTable("apps")
    .set({ ...columnsOf(app), ...read, etag, as_of: asOf })
    .where("slug", "=", app.slug)
    .where("as_of", "<=", asOf)
    .executeTakeFirst();
  if (numUpdatedRows > 0n) return;
  await transaction
    .updateTable("apps")
    .set({ ...read, etag: null })
    .where("slug", "=", app.slug)
    .execute();
}

export async function noteFetched(database: Kysely<DB>, slug: string, now: Date): Promise<void> {
  await database.updateTable("apps").set({ fetched_at: now }).where("slug", "=", slug).execute();
}

/** Those that somebody has installed, by slug. */
export function findStaleApps(database: Kysely<DB>, before: Date, after: string, limit: number) {
  return database
    .selectFrom("apps")
    .select(["slug", "schema_known"])
    .where("slug", ">", after)
    .where((where) => where.or([where("fetched_at", "is", null), where("fetched_at", "<", before)]))
    .where(sql<boolean>`exists (select from installations where app_slug = apps.slug and status <> 'removed')`)
    .orderBy("slug")
    .limit(limit)
    .execute();
}
