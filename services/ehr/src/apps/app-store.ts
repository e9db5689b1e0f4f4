import type { EventApp } from "@ehr-marketplace/contracts";
import { type Kysely, type NotNull, sql, type Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import type { CatalogApp } from "./marketplace-catalog.ts";

type Facts = Omit<EventApp, "slug">;

export interface AppRow {
  /** What the catalog says of it; null until that has been read. */
  facts: Facts | null;
  /** When the catalog last answered, also that it has no such app. */
  fetchedAt: Date | null;
}

export async function findApp(database: Kysely<DB>, slug: string): Promise<AppRow | undefined> {
  const row = await database
    .selectFrom("apps")
    .select(["schema_known as isRead", "fetched_at as fetchedAt"])
    .select(["id", "name", "icon_url as iconUrl", "category", "extension_points as extensionPoints"])
    .select(["smart_launch_url as smartLaunchUrl", "fhir_scopes as fhirScopes"])
    .$narrowType<{ id: NotNull; name: NotNull; iconUrl: NotNull; category: NotNull; extensionPoints: NotNull }>()
    .$narrowType<{ fhirScopes: NotNull }>()
    .where("slug", "=", slug)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { isRead, fetchedAt, ...facts } = row;
  return { facts: isRead ? facts : null, fetchedAt };
}

/** Of these apps, those that the catalog has been read of. */
export async function findReadSlugs(database: Kysely<DB>, slugs: string[]): Promise<string[]> {
  const read = database.selectFrom("apps").select("slug").where("schema_known", "=", true);
  const rows = await read.where("slug", "in", slugs).execute();
  return rows.map(({ slug }) => slug);
}

/** Nothing but its name, for what refers to it. */
export async function insertSlug(transaction: Transaction<DB>, slug: string, now: Date): Promise<void> {
  await transaction
    .insertInto("apps")
    .values({ slug, updated_at: now })
    .onConflict((conflict) => conflict.column("slug").doNothing())
    .execute();
}

export function findEtag(database: Kysely<DB>, slug: string) {
  return database.selectFrom("apps").select("etag").where("slug", "=", slug).executeTakeFirst();
}

/** Takes over what the catalog says: nobody else has a word in it. */
export async function replaceApp(database: Kysely<DB>, { app, schema, etag }: CatalogApp, now: Date): Promise<void> {
  await database
    .updateTable("apps")
    .set({
      id: app.id,
      name: app.name,
      icon_url: app.iconUrl,
      category: app.category,
      extension_points: app.extensionPoints,
      smart_launch_url: app.smartLaunchUrl,
      fhir_scopes: app.fhirScopes,
      config_schema: schema.text,
      schema_known: true,
      schema_problem: schema.problem,
      config_secrets: schema.secrets === null ? null : JSON.stringify(schema.secrets),
      etag,
      fetched_at: now,
      updated_at: now,
    })
    .where("slug", "=", app.slug)
    .execute();
}

export async function noteFetched(database: Kysely<DB>, slug: string, now: Date): Promise<void> {
  await database.updateTable("apps").set({ fetched_at: now }).where("slug", "=", slug).execute();
}

/** Those that somebody has installed, by slug; of those that the catalog never had, what was asked for before `absentBefore`. */
export function findStaleApps(
  database: Kysely<DB>,
  { before, absentBefore }: { before: Date; absentBefore: Date },
  after: string,
  limit: number,
) {
  const asked = sql<Date>`case when schema_known then ${before}::timestamptz else ${absentBefore}::timestamptz end`;
  return database
    .selectFrom("apps")
    .select(["slug", "schema_known"])
    .where("slug", ">", after)
    .where((where) => where.or([where("fetched_at", "is", null), where("fetched_at", "<", asked)]))
    .where(sql<boolean>`exists (select from installations where app_slug = apps.slug and status <> 'removed')`)
    .orderBy("slug")
    .limit(limit)
    .execute();
}
