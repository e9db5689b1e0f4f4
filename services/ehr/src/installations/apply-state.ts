import type { SubscriptionDto } from "@ehr-marketplace/contracts";
import { Problem } from "@ehr-marketplace/service-kit/http";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import { v7 as uuid } from "uuid";
import { ensureApp, type KnownApp } from "../apps/ensure-app.ts";
import { isFreshInCatalog, requestAppFetch, secondsUntilRecheck } from "../apps/request-app-fetch.ts";
import type { DB } from "../database-schema.ts";
import { reserveAppFetch } from "../organisations/app-fetch-rate.ts";
import { installationProblems } from "./installation-errors.ts";
import { configLeftSince } from "./left-configuration.ts";
import { assertWithinLimits } from "./subscription-limits.ts";
import {
  findSubscription,
  removeInstallation,
  type SubscriptionRow,
  upsertInstallation,
  upsertSubscription,
} from "./subscription-store.ts";

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
  /**
   * For a listed one, the `asOf` that was known before the list was requested. Where that is still what is stored and contradicts the list, the
   * list replaces it, whatever time it claims: an event's sender picks its time.
   */
  knownAsOf?: Date | undefined;
}

export interface Applied {
  /** Whether anything was newer than what was known, or is confirmed now. */
  changed: boolean;
  /** Whether the marketplace's list contradicted what was known, and replaced it. */
  corrected: boolean;
  /** The app is to be fetched from the catalog once the transaction has committed. */
  fetchNow: boolean;
}

const unchanged: Applied = { changed: false, corrected: false, fetchNow: false };

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
  if (!isListed && before !== undefined && before.app_slug !== state.appSlug) throw anotherApp();
  const isNewer = before === undefined || before.as_of < state.asOf;
  const isCorrection = isListed && before !== undefined && isCorrected(before, state);
  const isConfirmation = isListed && before?.confirmed_at === null && before.app_slug === state.appSlug;
  if (!isNewer && !isCorrection && !isConfirmation) return unchanged;

  const next = isNewer || isCorrection ? { app_slug: state.appSlug, status: state.status, as_of: state.asOf } : before;
  const added = { isNew: before === undefined, isLive: isLive(next) && !(before && isLive(before)) };
  if (!isListed && (added.isNew || added.isLive)) await assertWithinLimits(transaction, orgAlias, added);
  const app = await ensureApp(transaction, next.app_slug, now);
  // A confirmation is for one app, and ends with the subscription: no event makes a cancelled one live again but a forged one.
  const kept = before?.app_slug === next.app_slug && !(added.isLive && !added.isNew) ? before : undefined;
  const isConfirmable = app.hasFacts && (isListed || isFreshInCatalog(app, now));
  const confirmed_at = kept?.confirmed_at ?? (isConfirmable ? now : null);
  const listed_at = kept?.listed_at ?? (isListed ? now : null);
  await upsertSubscription(transaction, { ...next, org_alias: orgAlias, id: subscriptionId, confirmed_at, listed_at });
  for (const appSlug of new Set([next.app_slug, before?.app_slug ?? next.app_slug])) {
    await deriveInstallation(transaction, orgAlias, appSlug, now);
  }
  const fetchNow = isLive(next) && (await requestFetch(transaction, queue, app, state, confirmed_at !== null));
  return { changed: true, corrected: isCorrection, fetchNow };
}

const isLive = ({ status }: { status: string }): boolean => status !== "cancelled";

/**
 * Whether the list replaces what is known though that claims to be as new. What was stored after the list had been requested may really be
 * newer and stays; but the app is the list's in any case, since a subscription never changes it.
 */
function isCorrected(known: SubscriptionRow, { appSlug, status, asOf, knownAsOf }: SubscriptionState): boolean {
  if (known.app_slug !== appSlug) return true;
  return known.status !== status && known.as_of >= asOf && known.as_of.getTime() === knownAsOf?.getTime();
}

const anotherApp = (): Problem =>
  new Problem(
    installationProblems.anotherApp,
    "The subscription is known with another app. A subscription never changes its app; reconciliation takes over whatever the marketplace lists.",
  );

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

/** Requests a fetch of an app that isn't known well enough; returns whether it may start at once. */
async function requestFetch(
  transaction: Transaction<DB>,
  queue: Queue,
  app: KnownApp,
  { orgAlias, now, isListed }: SubscriptionState,
  isConfirmed: boolean,
): Promise<boolean> {
  if (isFreshInCatalog(app, now)) return false;
  const recheck = secondsUntilRecheck(app, now);
  if (isConfirmed || isListed) {
    await requestAppFetch(transaction, queue, app.slug, { startAfter: recheck });
    return false;
  }
  const limited = await reserveAppFetch(transaction, orgAlias, now);
  if (limited === undefined) return false;
  const startAfter = Math.max(recheck, limited) || fallbackSeconds;
  await requestAppFetch(transaction, queue, app.slug, { startAfter, isRateLimited: limited > 0 });
  return Math.max(recheck, limited) === 0;
}
