import { isSandboxSlug, type SubscriptionDto } from "@ehr-marketplace/contracts";
import { missingScopes } from "@ehr-marketplace/listing-rules/scopes";
import { Problem } from "@ehr-marketplace/service-kit/http";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import { ensureApp, type KnownApp } from "../apps/ensure-app.ts";
import { isFreshInCatalog, requestAppFetch, secondsUntilRecheck } from "../apps/request-app-fetch.ts";
import type { DB } from "../database-schema.ts";
import { deriveInstallation } from "../installations/derive-installation.ts";
import { reserveAppFetch } from "../organisations/app-fetch-rate.ts";
import { recordDifference } from "./differences.ts";
import { isRevival, type PauseReason } from "./pause-reason.ts";
import { subscriptionProblems } from "./subscription-errors.ts";
import { assertWithinLimits } from "./subscription-limits.ts";
import { findSubscription, type SubscriptionRow, upsertSubscription } from "./subscription-store.ts";

export interface SubscriptionState {
  orgAlias: string;
  subscriptionId: string;
  appSlug: string;
  status: SubscriptionDto["status"];
  /** The scopes that the organisation has agreed to. Undefined if the marketplace didn't say: then the stored ones stay. */
  fhirScopes?: string | undefined;
  /** Why it is paused. Undefined if the marketplace didn't say: then the stored reason stays, as long as it is paused. */
  pauseReason?: PauseReason | null | undefined;
  /** When the subscription changed to this status, by the marketplace's clock. */
  asOf: Date;
  now: Date;
  /** Whether the state comes from the marketplace's list, which confirms it. An event may be forged by a holder of the secret. */
  isListed: boolean;
  /**
   * For a listed state, the `asOf` that was stored before the list was requested. If it is still stored and contradicts the list, the list
   * replaces it, however new it claims to be: the sender of an event chooses its time.
   */
  storedAsOf?: Date | undefined;
  /**
   * For a listed state, the number of its epoch. An older state that would revive the subscription is withheld if the stored one is of an
   * earlier epoch: the marketplace may have lost the change. Undefined: it is applied.
   */
  epoch?: number | undefined;
}

export interface AppliedState {
  /** Whether the stored state was replaced or confirmed. */
  changed: boolean;
  /** Whether the marketplace's list contradicted the stored state, and replaced it. */
  corrected: boolean;
  /** Whether the list contradicted the stored state, and an operator has to decide which of them is right. */
  withheld: boolean;
  /** The fetch that the caller has to start once the transaction has committed; `since`: an earlier response is too old. */
  fetchNow: { since?: Date } | undefined;
}

const unchanged: AppliedState = { changed: false, corrected: false, withheld: false, fetchNow: undefined };

/**
 * Stores the state if it is newer than the stored one, and derives the installation of the app. The caller holds the organisation's lock.
 * States may arrive in any order and repeatedly: the newest state of each subscription stays.
 */
export async function applyState(
  transaction: Transaction<DB>,
  queue: Queue,
  state: SubscriptionState,
): Promise<AppliedState> {
  const { orgAlias, subscriptionId, now, isListed } = state;
  const before = await findSubscription(transaction, orgAlias, subscriptionId);
  if (!isListed && before !== undefined && before.app_slug !== state.appSlug) throw anotherApp();
  const isNewer = before === undefined || before.as_of < state.asOf;
  const isContradiction = isListed && before !== undefined && isCorrected(before, state);
  const withheld = isContradiction && isWithheld(before, state);
  if (withheld) await recordDifference(transaction, { ...state, storedAsOf: before.as_of });
  const isCorrection = isContradiction && !withheld;
  const isConfirmation = isListed && before?.confirmed_at === null && before.app_slug === state.appSlug;
  const hasOtherScopes =
    isListed && before !== undefined && before.as_of <= state.asOf && areOtherScopes(before, state);
  const hasOtherReason = isListed && before !== undefined && before.as_of <= state.asOf && isOtherReason(before, state);
  if (!isNewer && !isCorrection && !isConfirmation && !hasOtherScopes && !hasOtherReason) {
    return { ...unchanged, withheld };
  }

  const fhir_scopes = state.fhirScopes ?? before?.fhir_scopes ?? null;
  const pause_reason = pauseReasonAfter(before, state);
  const next =
    isNewer || isCorrection
      ? {
          app_slug: state.appSlug,
          status: state.status,
          as_of: state.asOf,
          fhir_scopes,
          pause_reason,
          epoch: undefined,
        }
      : { ...before, ...(hasOtherScopes ? { fhir_scopes } : {}), ...(hasOtherReason ? { pause_reason } : {}) };
  const added = { isNew: before === undefined, isLive: isLive(next) && !(before && isLive(before)) };
  if (!isListed && (added.isNew || added.isLive)) await assertWithinLimits(transaction, orgAlias, added);
  const app = await ensureApp(transaction, next.app_slug, now);
  // A confirmation is for one app and ends with the subscription: only a forged event makes a cancelled subscription live again.
  const kept = before?.app_slug === next.app_slug && !(added.isLive && !added.isNew) ? before : undefined;
  const isConfirmable = app.hasFacts && (isListed || (isFreshInCatalog(app, now) && !isSandboxSlug(app.slug)));
  const confirmed_at = kept?.confirmed_at ?? (isConfirmable ? now : null);
  const listed_at = kept?.listed_at ?? (isListed ? now : null);
  await upsertSubscription(transaction, { ...next, org_alias: orgAlias, id: subscriptionId, confirmed_at, listed_at });
  for (const appSlug of new Set([next.app_slug, before?.app_slug ?? next.app_slug])) {
    await deriveInstallation(
      transaction,
      queue,
      orgAlias,
      appSlug,
      now,
      isRescoped(before, next, app) ? subscriptionId : null,
    );
  }
  const isConfirmed = confirmed_at !== null;
  const fetchNow = isLive(next) ? await requestFetch(transaction, queue, app, state, isConfirmed) : undefined;
  return { changed: true, corrected: isCorrection, withheld, fetchNow };
}

const isLive = ({ status }: { status: string }): boolean => status !== "cancelled";

/**
 * Whether the list replaces a stored state that claims to be at least as new. A state that was stored after the list was requested may really
 * be newer, and stays. The app is always the list's, since a subscription never changes its app.
 */
function isCorrected(known: SubscriptionRow, state: SubscriptionState): boolean {
  const { appSlug, status, asOf, storedAsOf } = state;
  if (known.app_slug !== appSlug) return true;
  if (known.as_of < asOf || known.as_of.getTime() !== storedAsOf?.getTime()) return false;
  // With the same time, other scopes are no contradiction: they shrink without an event when the app loses one.
  return known.status !== status || (known.as_of > asOf && areOtherScopes(known, state));
}

/** Whether the marketplace may have lost the stored state, and the list would revive the subscription. */
function isWithheld(known: SubscriptionRow, { status, asOf, epoch }: SubscriptionState): boolean {
  const isOfEarlierEpoch = epoch !== undefined && known.epoch < epoch;
  return isOfEarlierEpoch && known.as_of > asOf && isRevival({ ...known, pauseReason: known.pause_reason }, { status });
}

const isOtherReason = (known: SubscriptionRow, { status, pauseReason }: SubscriptionState): boolean =>
  status === "paused" && known.status === status && pauseReason !== undefined && known.pause_reason !== pauseReason;

function pauseReasonAfter(before: SubscriptionRow | undefined, { status, pauseReason }: SubscriptionState) {
  if (status !== "paused") return null;
  const kept = before?.status === status ? before.pause_reason : null;
  return pauseReason === undefined ? kept : pauseReason;
}

const areOtherScopes = (known: SubscriptionRow, { appSlug, fhirScopes }: SubscriptionState): boolean =>
  fhirScopes !== undefined && known.app_slug === appSlug && known.fhir_scopes !== fhirScopes;

/** Whether other scopes are agreed to than before. While that isn't known, the app's are in force. */
function isRescoped(
  before: SubscriptionRow | undefined,
  next: Pick<SubscriptionRow, "fhir_scopes">,
  { fhirScopes }: KnownApp,
): boolean {
  return before !== undefined && (before.fhir_scopes ?? fhirScopes) !== (next.fhir_scopes ?? fhirScopes);
}

const anotherApp = (): Problem =>
  new Problem(
    subscriptionProblems.anotherApp,
    "The subscription is stored with another app. A subscription never changes its app; reconciliation applies the marketplace's list.",
  );

/** The process fetches the app right after the commit; the job is the fallback if the process dies before. */
const fallbackSeconds = 5;

/**
 * Requests a fetch of an app that isn't fresh, or that has changed: it lacks a scope which the organisation has just agreed to, or its vendor
 * may have installed another draft of it. Returns the fetch if it may start immediately.
 */
async function requestFetch(
  transaction: Transaction<DB>,
  queue: Queue,
  app: KnownApp,
  { orgAlias, now, isListed, fhirScopes }: SubscriptionState,
  isConfirmed: boolean,
): Promise<AppliedState["fetchNow"]> {
  const isMissingScopes =
    app.fhirScopes !== null && fhirScopes !== undefined && hasMoreScopes(fhirScopes, app.fhirScopes);
  const isOutdated = isMissingScopes || isSandboxSlug(app.slug);
  if (isFreshInCatalog(app, now) && !isOutdated) return undefined;
  const recheck = secondsUntilRecheck(app, now);
  if (isListed || (isConfirmed && !isOutdated)) {
    await requestAppFetch(transaction, queue, app.slug, { startAfter: recheck });
    return undefined;
  }
  const limited = await reserveAppFetch(transaction, orgAlias, now);
  if (limited === undefined) return undefined;
  // The response of the last minute is older than the event.
  const fetch = isOutdated ? { since: now } : {};
  const waitSeconds = isOutdated ? limited : Math.max(recheck, limited);
  const startAfter = waitSeconds || fallbackSeconds;
  await requestAppFetch(transaction, queue, app.slug, { ...fetch, startAfter, isRateLimited: limited > 0 });
  return waitSeconds === 0 ? fetch : undefined;
}

const hasMoreScopes = (agreed: string, known: string): boolean =>
  agreed !== known && missingScopes(agreed, known).length > 0;
