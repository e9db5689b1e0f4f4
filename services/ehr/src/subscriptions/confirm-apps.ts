import { setTimeout as delay } from "node:timers/promises";
import { isSandboxSlug } from "@ehr-marketplace/contracts";
import { isDatabaseUnavailable } from "@ehr-marketplace/service-kit/database";
import { Problem, rateLimitProblem } from "@ehr-marketplace/service-kit/http";
import { LRUCache } from "lru-cache";
import { type FetchDeps, type FetchResult, fetchApp } from "../apps/fetch-app.ts";
import { isFreshInCatalog, type LastFetch, secondsUntilRecheck } from "../apps/request-app-fetch.ts";
import { appFetchesPerMinute, takeAppFetch } from "../organisations/app-fetch-rate.ts";
import { type ConfirmDeps, confirmFor, confirmForAll, quarantineForAll } from "./confirm-subscriptions.ts";
import { subscriptionProblems } from "./subscription-errors.ts";
import { findUnconfirmedApp } from "./subscription-store.ts";

export interface AppConfirmer {
  /**
   * Fetches an app and installs it for all organisations with unconfirmed subscriptions. Called by a job, which retries. With `since`, a
   * response that was requested earlier isn't used.
   */
  confirm(appSlug: string, since?: Date): Promise<void>;
  /** Does the same in the background, right after an event. On failure, or with too many fetches in progress, the job does it. */
  confirmSoon(appSlug: string, since?: Date): void;
  /**
   * For a request that names an app which isn't installed: if the app has an unconfirmed live subscription, fetches the app within two
   * seconds. Returns whether the caller should read the installation again; throws if the marketplace can't be reached, or if the
   * organisation has used up its catalog requests.
   */
  confirmOnDemand(orgAlias: string, appSlug: string): Promise<boolean>;
  /** Fetches the app within two seconds, unless the catalog was recently found not to have it. Throws as `confirmOnDemand`. */
  fetchOnDemand(orgAlias: string, appSlug: string, last: LastFetch): Promise<FetchResult>;
  stop(): Promise<void>;
}

const onDemandMs = 2_000;
const retryAfterSeconds = 5;
const maxInBackground = 20;

interface Fetch {
  startedAt: Date;
  /** Resolves once the catalog's response is stored. */
  result: Promise<FetchResult>;
  /** Resolves once the subscriptions of all organisations are confirmed or quarantined. */
  settled: Promise<void>;
}

/**
 * At most one fetch of an app is in progress in this process, and one for events that say that the app has changed, for which the response of
 * the last minute doesn't suffice. Concurrent callers share them.
 */
export function createAppConfirmer(deps: FetchDeps & ConfirmDeps): AppConfirmer {
  const { database, clock, logger } = deps;
  const fetches = new Map<string, Fetch>();
  const failures = new LRUCache<string, true>({ max: 1_000, ttl: retryAfterSeconds * 1_000 });
  const stopping = new AbortController();

  const startFetch = (appSlug: string, since?: Date): Fetch => {
    const key = keyOf(appSlug, since);
    const shared = fetches.get(key);
    if (shared !== undefined) return shared;
    const startedAt = clock();
    const result = fetchApp(deps, appSlug, { since, signal: stopping.signal });
    const settled = result
      .then((found) => (found === "found" ? confirmForAll : quarantineForAll)(deps, appSlug, stopping.signal))
      .finally(() => fetches.delete(key));
    result.catch(() => failures.set(appSlug, true));
    settled.catch((error: unknown) => {
      if (stopping.signal.aborted) return;
      logger.warn({ err: error, appSlug }, "failed to fetch an app from the marketplace; the job will retry");
    });
    const fetch = { startedAt, result, settled };
    fetches.set(key, fetch);
    return fetch;
  };

  const fetchWithinTime = async (orgAlias: string, appSlug: string): Promise<FetchResult> => {
    const underWay = fetches.get(appSlug);
    if (underWay !== undefined) return withinTime(underWay.result);
    if (failures.has(appSlug)) throw unavailable();
    const waitSeconds = await takeAppFetch(database, orgAlias, clock());
    if (waitSeconds > 0) throw tooManyFetches(waitSeconds);
    return withinTime(startFetch(appSlug).result);
  };

  const fetchOnDemand = async (orgAlias: string, appSlug: string, last: LastFetch): Promise<FetchResult> => {
    if (last.absentAt === null) return fetchWithinTime(orgAlias, appSlug);
    if (secondsUntilRecheck(last, clock()) > 0) return "absent";
    // A quarantined subscription stays quarantined while the marketplace can't be reached.
    return fetchWithinTime(orgAlias, appSlug).catch((error: unknown) => {
      if (error instanceof Problem) return "absent";
      throw error;
    });
  };

  const confirmOnDemand = async (orgAlias: string, appSlug: string): Promise<boolean> => {
    const awaited = await findUnconfirmedApp(database, orgAlias, appSlug);
    // It may have been confirmed since the caller read it.
    if (awaited === undefined) return true;
    // The list that confirms it has been requested.
    if (isSandboxSlug(appSlug)) return false;
    const result = isFreshInCatalog(awaited, clock()) ? "found" : await fetchOnDemand(orgAlias, appSlug, awaited);
    if (result === "found") await confirmFor(deps, orgAlias, appSlug);
    return result === "found";
  };

  /** The fetch in progress that began before the event, and may therefore have read an older app. */
  const findOlder = (appSlug: string, since: Date | undefined): Fetch | undefined => {
    const underWay = fetches.get(keyOf(appSlug, since));
    return since !== undefined && underWay !== undefined && underWay.startedAt < since ? underWay : undefined;
  };

  return {
    async confirm(appSlug, since) {
      await findOlder(appSlug, since)?.settled.catch(() => undefined);
      await startFetch(appSlug, since).settled;
    },
    confirmSoon(appSlug, since) {
      if (fetches.size < maxInBackground && findOlder(appSlug, since) === undefined) startFetch(appSlug, since);
    },
    confirmOnDemand,
    fetchOnDemand,
    async stop() {
      stopping.abort();
      await Promise.allSettled([...fetches.values()].map(({ settled }) => settled));
    },
  };
}

const keyOf = (appSlug: string, since: Date | undefined): string =>
  since === undefined ? appSlug : `${appSlug} since`;

/** The fetch continues after the timeout, and its response serves later requests. */
async function withinTime(result: Promise<FetchResult>): Promise<FetchResult> {
  const stopWaiting = new AbortController();
  const late = delay(onDemandMs, undefined, { signal: stopWaiting.signal }).then(
    () => {
      throw unavailable();
    },
    () => "absent" as const,
  );
  try {
    return await Promise.race([result, late]);
  } catch (error) {
    throw error instanceof Problem || isDatabaseUnavailable(error) ? error : unavailable(error);
  } finally {
    stopWaiting.abort();
  }
}

const unavailable = (cause?: unknown): Problem =>
  new Problem(
    subscriptionProblems.marketplaceUnavailable,
    "The organisation subscribed to this app, but the marketplace can't be reached to confirm it.",
    { headers: { "retry-after": String(retryAfterSeconds) }, cause },
  );

const tooManyFetches = (waitSeconds: number): Problem =>
  rateLimitProblem(
    subscriptionProblems.appFetchesLimited,
    `The organisation subscribed to this app, but its ${appFetchesPerMinute} requests a minute to the marketplace's catalog are used up. The app will be confirmed later.`,
    { limit: appFetchesPerMinute, retryAfterMs: waitSeconds * 1_000 },
  );
