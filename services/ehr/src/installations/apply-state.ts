import type { SubscriptionDto } from "@ehr-marketplace/contracts";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import { v7 as uuid } from "uuid";
import { ensureApp, type KnownApp } from "../apps/ensure-app.ts";
import { requestAppFetch, secondsUntilRecheck } from "../apps/request-app-fetch.ts";
import type { DB } from "../database-schema.ts";
import { reserveAppFetch } from "../organisations/app-fetch-rate.ts";
import { configLeftSince } from "./left-configuration.ts";
import { assertWithinLimits } from "./subscription-limits.ts";
import { findSubscription, removeInstallation, upsertInstallation, upsertSubscription } from "./subscription-store.ts";

export interface SubscriptionState {
  orgAlias: string;
  subscriptionId: string;
  appSlug: string;
  status: SubscriptionDto["status"];
  /** When the subscription became so, by the marketplace's clock. */
  asOf: Date;
  now: Date;
  /** The marketplace listed it, which confirms it, other than an event, which the holder of the secret may have made up. */
  isListed: boolean;
}

export interface Applied {
  /** Whether anything was newer than what was known, or is confirmed now. */
  changed: boolean;
  /** The app is to be fetched from the catalog once the transaction has committed. */
  fetchNow: boolean;
}

const unchanged: Applied = { changed: false, fetchNow: false };

/**
 * Takes over what is newer than what is known of the subscription, and derives the installation of its app. The caller holds the
 * organisation's lock. In whatever order and however often states come, the newest of each subscription is what stays.
 */
export async function applyState(
  transaction: Transaction<DB>,
  queue: Queue,
  state: SubscriptionState,
): Promise<Applied> {
  const { orgAlias, subscriptionId, now, isListed } = state;
  const before = await findSubscription(transaction, orgAlias, subscriptionId);
  const isNewer = before === undefined || before.as_of < state.asOf;
  const isConfirmation = isListed && before?.confirmed_at === null && before.app_slug === state.appSlug;
  if (!isNewer && !isConfirmation) return unchanged;

  const next = isNewer ? { app_slug: state.appSlug, status: state.status, as_of: state.asOf } : before;
  const app = await ensureApp(transaction, next.app_slug, now);
  // A confirmation is for the app that it was given for: an event may name another one.
  const confirmedBefore = before?.app_slug === next.app_slug ? before.confirmed_at : null;
  const confirmed_at = confirmedBefore ?? (app.hasFacts && (isListed || app.isInCatalog) ? now : null);
  const isLive = next.status !== "cancelled";
  const added = { isNew: before === undefined, isLive: isLive && !isLiveStatus(before?.status) };
  if (!isListed && (added.isNew || added.isLive)) {
    await assertWithinLimits(transaction, orgAlias, { ...added, isConfirmed: confirmed_at !== null });
  }
  await upsertSubscription(transaction, { ...next, org_alias: orgAlias, id: subscriptionId, confirmed_at });
  for (const appSlug of new Set([next.app_slug, before?.app_slug ?? next.app_slug])) {
    await deriveInstallation(transaction, orgAlias, appSlug, now);
  }
  return { changed: true, fetchNow: isLive && (await requestFetch(transaction, queue, app, state)) };
}

const isLiveStatus = (status: string | undefined): boolean => status !== undefined && status !== "cancelled";

/** An app is installed while a confirmed subscription to it is live. The caller holds the organisation's lock. */
export async function deriveInstallation(
  transaction: Transaction<DB>,
  orgAlias: string,
  appSlug: string,
  now: Date,
): Promise<void> {
  const derived = { id: uuid(), orgAlias, appSlug, now, configLeftSince: configLeftSince(now) };
  const isInstalled = await upsertInstallation(transaction, derived);
  if (!isInstalled) await removeInstallation(transaction, orgAlias, appSlug, now);
}

/** A fetch that this process starts at once after the commit takes a moment; the job is for when the process dies. */
const fallbackSeconds = 5;
const staleAfterMs = 3_600_000;

/** Requests a fetch of an app that isn't known well enough; returns whether it may start at once. */
async function requestFetch(
  transaction: Transaction<DB>,
  queue: Queue,
  app: KnownApp,
  { orgAlias, now, isListed }: SubscriptionState,
): Promise<boolean> {
  const isFresh = app.fetchedAt !== null && now.getTime() - app.fetchedAt.getTime() < staleAfterMs;
  if (app.isInCatalog && isFresh) return false;
  const recheck = secondsUntilRecheck(app, now);
  if (app.isInCatalog || isListed) {
    await requestAppFetch(transaction, queue, app.slug, { startAfter: recheck });
    return false;
  }
  const limited = await reserveAppFetch(transaction, orgAlias, now);
  const startAfter = Math.max(recheck, limited) || fallbackSeconds;
  await requestAppFetch(transaction, queue, app.slug, { startAfter, isRateLimited: limited > 0 });
  return Math.max(recheck, limited) === 0;
}
