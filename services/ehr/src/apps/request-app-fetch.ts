import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import { fromKysely } from "pg-boss";
import type { DB } from "../database-schema.ts";
import { appFetches } from "../queues.ts";
import type { AppRow } from "./app-store.ts";

/** When the app was fetched last, and when the catalog was found not to have it. */
export interface LastFetch {
  fetchedAt: Date | null;
  absentAt: Date | null;
}

/** An app is fetched from the catalog at most once a minute, however many events and requests name it. */
export const recheckAfterMs = 60_000;

/** After this time the app may have been withdrawn from the catalog. */
const confirmsForMs = 3_600_000;

/** Whether the stored app is recent enough to confirm a subscription without another catalog request. */
export function isFreshInCatalog(
  { isInCatalog, fetchedAt }: Pick<AppRow, "isInCatalog" | "fetchedAt">,
  now: Date,
): boolean {
  return isInCatalog && fetchedAt !== null && now.getTime() - fetchedAt.getTime() < confirmsForMs;
}

export function secondsUntilRecheck({ fetchedAt }: Pick<LastFetch, "fetchedAt">, now: Date): number {
  const since = Math.max(0, now.getTime() - (fetchedAt?.getTime() ?? 0));
  return Math.max(0, Math.ceil((recheckAfterMs - since) / 1_000));
}

/**
 * At most one fetch of an app is queued or running at a time. A fetch that is delayed by its organisation's rate limit has its own singleton
 * key, so that it doesn't suppress fetches of other organisations.
 */
export async function requestAppFetch(
  transaction: Transaction<DB>,
  queue: Queue,
  slug: string,
  { startAfter = 0, isRateLimited = false }: { startAfter?: number; isRateLimited?: boolean } = {},
): Promise<void> {
  const boss = queue.boss();
  const singletonKey = isRateLimited ? `${slug} limited` : slug;
  await boss.send(appFetches, { slug }, { singletonKey, startAfter, db: fromKysely(transaction) });
}
