import type { EventApp } from "@ehr-marketplace/contracts";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { upsertListedApp } from "./app-store.ts";

/**
 * Stores the apps of the marketplace's list of subscriptions that its catalog doesn't have. Each app has its own statement, before any
 * organisation is locked: transactions of two organisations would otherwise deadlock on the rows of apps.
 */
export async function storeListedApps(database: Kysely<DB>, apps: EventApp[], now: Date): Promise<void> {
  const bySlug = new Map(apps.map((app) => [app.slug, app]));
  for (const app of bySlug.values()) await upsertListedApp(database, app, now);
}
