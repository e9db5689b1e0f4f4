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

/** An app is fetched at most once a minute, however many events and requests name it, unless an event says that it has changed. */
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

/** The data of a job. */
export interface AppFetch {
  slug: string;
  /** A response that was requested earlier is too old: an ISO 8601 time. Absent: the response of the last minute suffices. */
  since?: string;
}

/**
 * At most one fetch of an app is queued or running at a time. A fetch that is delayed by its organisation's rate limit has its own singleton
 * key, so that it doesn't suppress fetches of other organisations. So has a fetch for an event that says that the app has changed: a queued
 * fetch may be due in half an hour, and a running one may have been requested before the change. Such fetches are counted by organisation.
 */
export async function requestAppFetch(
  transaction: Transaction<DB>,
  queue: Queue,
  slug: string,
  { startAfter = 0, isRateLimited = false, since }: { startAfter?: number; isRateLimited?: boolean; since?: Date } = {},
): Promise<void> {
  const boss = queue.boss();
  const data: AppFetch = since === undefined ? { slug } : { slug, since: since.toISOString() };
  const reason = isRateLimited ? `${slug} limited` : slug;
  const singletonKey = since === undefined ? reason : `${slug} since ${data.since}`;
  await boss.send(appFetches, data, { singletonKey, startAfter, db: fromKysely(transaction) });
}
