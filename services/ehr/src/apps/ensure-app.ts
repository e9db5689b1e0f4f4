import type { Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { type AppRow, findApp, insertSlug, lockApp } from "./app-store.ts";
import { isFreshInCatalog } from "./request-app-fetch.ts";

export type KnownApp = AppRow;

/**
 * Makes sure that the app has a row to refer to, and returns what is known of the app. Events that name a known app only read, so that
 * organisations that install a popular app don't wait for each other at its row. An app that the catalog wasn't lately found to have is
 * locked in share mode: a fetch stores its result either before this row is read or after the caller has committed,
 * and therefore never misses the caller's unconfirmed subscription.
 */
export async function ensureApp(transaction: Transaction<DB>, slug: string, now: Date): Promise<KnownApp> {
  const known = await findApp(transaction, slug);
  if (known !== undefined && isFreshInCatalog(known, now)) return known;
  if (known === undefined) await insertSlug(transaction, slug, now);
  return lockApp(transaction, slug);
}
