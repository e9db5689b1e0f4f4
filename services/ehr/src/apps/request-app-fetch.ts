import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import { fromKysely } from "pg-boss";
import type { DB } from "../database-schema.ts";
import { appFetches } from "../queues.ts";
import type { AppRow } from "./app-store.ts";

/** However many events and requests name an app, it is fetched from the catalog once a minute at most. */
export const recheckAfterMs = 60_000;

/** An app that was found in the catalog for longer may have been withdrawn since. */
const confirmsForMs = 3_600_000;

/** Whether what is stored confirms a subscription to the app without another request. */
export function isFreshInCatalog(
  { isInCatalog, fetchedAt }: Pick<AppRow, "isInCatalog" | "fetchedAt">,
  now: Date,
): boolean {
  return isInCatalog && fetchedAt !== null && now.getTime() - fetchedAt.getTime() < confirmsForMs;
}

export function secondsUntilRecheck({ fetchedAt }: Pick<AppRow, "fetchedAt">, now: Date): number {
  const since = Math.max(0, now.getTime() - (fetchedAt?.getTime() ?? 0));
  return Math.max(0, Math.ceil((recheckAfterMs - since) / 1_000));
}

/**
 * One fetch of an app waits or is under way at a time, however many are requested. One that waits for its organisation's rate has a key of its own,
 * so that it doesn't stand in for those of other organisations.
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
