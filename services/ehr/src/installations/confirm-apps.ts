import { setTimeout as delay } from "node:timers/promises";
import { isDatabaseAway } from "@ehr-marketplace/service-kit/database";
import { Problem, rateLimited } from "@ehr-marketplace/service-kit/http";
import { LRUCache } from "lru-cache";
import { type FetchDeps, type FetchResult, fetchApp } from "../apps/fetch-app.ts";
import { isFreshInCatalog, secondsUntilRecheck } from "../apps/request-app-fetch.ts";
import { appFetchesPerMinute, takeAppFetch } from "../organisations/app-fetch-rate.ts";
import { type ConfirmDeps, confirmFor, confirmForAll, quarantineForAll } from "./confirm-subscriptions.ts";
import { installationProblems } from "./installation-errors.ts";
import { findSchemaState } from "./installation-store.ts";
import { findUnconfirmedApp } from "./subscription-store.ts";

export interface AppConfirmer {
  /** Fetches an app and installs it wherever it waits for that; for a job, which retries what fails. */
  confirm(appSlug: string): Promise<void>;
  /** The same in the background, right after an event. What fails, or is too much at once, is left to the job. */
  confirmSoon(appSlug: string): void;
  /**
   * For a request that names an app which isn't installed: where a live subscription waits for it, fetches it within two seconds. Returns whether
   * to look again, because something may have changed; throws where the marketplace can't be reached, or where the
   * organisation has used up its catalog requests.
   */
  confirmOnDemand(orgAlias: string, appSlug: string): Promise<boolean>;
  /** Before a configuration: the same, and for an installed app whose schema was never read. */
  ensureConfigurable(orgAlias: string, appSlug: string): Promise<void>;
  stop(): Promise<void>;
}

const onDemandMs = 2_000;
const retryAfterSeconds = 5;
const maxInBackground = 20;

interface Fetch {
  /** Once what the catalog says is stored. */
  result: Promise<FetchResult>;
  /** Once every organisation's subscriptions are confirmed or quarantined by it. */
  settled: Promise<void>;
}

interface Known {
  fetchedAt: Date | null;
  absentAt: Date | null;
}

/** One fetch of an app is under way in this process at a time, and everybody who needs it shares it. */
export function createAppConfirmer(deps: FetchDeps & ConfirmDeps): AppConfirmer {
  const { database, clock, logger } = deps;
  const fetches = new Map<string, Fetch>();
  const failures = new LRUCache<string, true>({ max: 1_000, ttl: retryAfterSeconds * 1_000 });
  const stopping = new AbortController();

  const startFetch = (appSlug: string): Fetch => {
    const shared = fetches.get(appSlug);
    if (shared !== undefined) return shared;
    const result = fetchApp(deps, appSlug, stopping.signal);
    const settled = result
      .then((found) => (found === "found" ? confirmForAll : quarantineForAll)(deps, appSlug, stopping.signal))
      .finally(() => fetches.delete(appSlug));
    result.catch(() => failures.set(appSlug, true));
    settled.catch((error: unknown) => {
      if (stopping.signal.aborted) return;
      logger.warn({ err: error, appSlug }, "failed to fetch an app from the marketplace; a job retries");
    });
    const fetch = { result, settled };
    fetches.set(appSlug, fetch);
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

  const fetchOnDemand = async (orgAlias: string, appSlug: string, known: Known): Promise<FetchResult> => {
    if (known.absentAt === null) return fetchWithinTime(orgAlias, appSlug);
    if (secondsUntilRecheck(known, clock()) > 0) return "absent";
    // A quarantined subscription stays quarantined while the marketplace can't be reached.
    return fetchWithinTime(orgAlias, appSlug).catch((error: unknown) => {
      if (error instanceof Problem) return "absent";
      throw error;
    });
  };

  const confirmOnDemand = async (orgAlias: string, appSlug: string): Promise<boolean> => {
    const awaited = await findUnconfirmedApp(database, orgAlias, appSlug);
    // It may have been confirmed this moment.
    if (awaited === undefined) return true;
    const result = isFreshInCatalog(awaited, clock()) ? "found" : await fetchOnDemand(orgAlias, appSlug, awaited);
    if (result === "found") await confirmFor(deps, orgAlias, appSlug);
    return result === "found";
  };

  return {
    confirm: (appSlug) => startFetch(appSlug).settled,
    confirmSoon(appSlug) {
      if (fetches.size < maxInBackground) startFetch(appSlug);
    },
    confirmOnDemand,
    async ensureConfigurable(orgAlias, appSlug) {
      const installed = await findSchemaState(database, orgAlias, appSlug);
      if (installed === undefined) await confirmOnDemand(orgAlias, appSlug);
      else if (!installed.isSchemaKnown && installed.absentAt === null) {
        await fetchOnDemand(orgAlias, appSlug, installed);
      }
    },
    async stop() {
      stopping.abort();
      await Promise.allSettled([...fetches.values()].map(({ settled }) => settled));
    },
  };
}

/** The fetch itself goes on: a slow marketplace's response serves the next request. */
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
    throw error instanceof Problem || isDatabaseAway(error) ? error : unavailable(error);
  } finally {
    stopWaiting.abort();
  }
}

const unavailable = (cause?: unknown): Problem =>
  new Problem(
    installationProblems.marketplaceUnavailable,
    "The organisation subscribed to this app, but the marketplace can't be reached to confirm it right now.",
    { headers: { "retry-after": String(retryAfterSeconds) }, cause },
  );

const tooManyFetches = (waitSeconds: number): Problem =>
  rateLimited(
    installationProblems.appFetchesLimited,
    `The organisation subscribed to this app, but its ${appFetchesPerMinute} requests a minute to the marketplace's catalog are used up. The app is confirmed once there is room.`,
    { limit: appFetchesPerMinute, retryAfterMs: waitSeconds * 1_000 },
  );
