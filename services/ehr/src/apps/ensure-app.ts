import type { Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { type AppRow, findApp, insertAppSlug, lockApp } from "./app-store.ts";
import { isFreshInCatalog } from "./request-app-fetch.ts";

export type KnownApp = AppRow;

/**
 * Inserts the app's row if there is none, and returns the row. If the catalog was recently found to have the app, its row is only read, so
 * that organisations that install a popular app don't wait for each other. Otherwise the row is locked in share mode: a fetch stores its
 * result either before this row is read or after the caller has committed, and therefore never misses the caller's unconfirmed
 * subscription.
 */
export async function ensureApp(transaction: Transaction<DB>, slug: string, now: Date): Promise<KnownApp> {
  const known = await findApp(transaction, slug);
  if (known !== undefined && isFreshInCatalog(known, now)) return known;
  if (known === undefined) await insertAppSlug(transaction, slug, now);
  return lockApp(transaction, slug);
}
