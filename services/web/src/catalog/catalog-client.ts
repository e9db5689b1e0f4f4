import { Problem, standardProblems } from "@ehr-marketplace/service-kit/http";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import { LRUCache } from "lru-cache";
import { webProblems } from "../web-problems.ts";
import { type FetchedJson, fetchJson } from "./fetch-json.ts";

/** Data of the catalog, as it was at `currentAt`. */
export interface Reading<T> {
  /** The same object as long as the marketplace says that nothing changed. */
  data: T;
  headers: Headers;
  currentAt: Date;
  /** Whether the marketplace couldn't be reached since. */
  isStale: boolean;
}

export interface CatalogRequest {
  /** Below the API's base path, with the query. */
  path: string;
  /** Makes it a POST request, for one that changes nothing. */
  body?: object;
  clientAddress: string;
  /** Whether it depends on what a reader has entered: there are any number of such requests, so they have a cache of their own. */
  isEntered?: boolean;
}

export interface CatalogClient {
  /** Undefined if the marketplace has no such thing, or refuses the request as invalid. */
  read<T>(request: CatalogRequest): Promise<Reading<T> | undefined>;
  /** Past the cache: for much that is read rarely, and would displace what people read. */
  readUncached<T>(request: CatalogRequest): Promise<T | undefined>;
}

export interface CatalogClientOptions {
  marketplaceUrl: string;
  logger: Pick<Logger, "warn">;
  clock: () => Date;
  timeoutMs: number;
}

interface Entry {
  data: unknown;
  headers: Headers;
  etag: string | undefined;
  bytes: number;
  currentAt: number;
  /** When it is to be revalidated. */
  dueAt: number;
  isStale: boolean;
}

/** The marketplace's own `max-age`. */
const freshMs = 30_000;
/** After a failure, so that readers of stale data don't wait for the next one. */
const retryMs = 2_000;
const maxStaleMs = 86_400_000;
/** How old data may be that a reader who asks the marketplace too often gets as current: nothing is wrong with the marketplace. Older data is marked as stale. */
const maxUnconfirmedMs = 600_000;
/** A page of 100 apps with the longest descriptions and schemas. */
const maxResponseBytes = 16 * 1_048_576;
const maxCached = { entries: 5_000, bytes: 48 * 1_048_576 };
const maxCachedEntered = { entries: 1_000, bytes: 16 * 1_048_576 };

const createCache = ({ entries, bytes: maxSize }: typeof maxCached): LRUCache<string, Entry> =>
  new LRUCache({
    max: entries,
    maxSize,
    // Parsed JSON takes about twice as much memory as its text.
    sizeCalculation: ({ bytes }, key) => bytes * 2 + key.length + 500,
  });

/** Reads the marketplace's public API, and caches what it reads in this process. */
export function createCatalogClient(options: CatalogClientOptions): CatalogClient {
  const { marketplaceUrl, logger, clock, timeoutMs } = options;
  const [shared, entered] = [createCache(maxCached), createCache(maxCachedEntered)];
  // Otherwise one reader's searches would displace the apps and lists that carry the pages through an outage.
  const cacheOf = ({ isEntered = false }: CatalogRequest): LRUCache<string, Entry> => (isEntered ? entered : shared);
  const pending = new Map<string, { clientAddress: string; loading: Promise<Entry | undefined> }>();

  const fetchEntry = async (request: CatalogRequest, known?: Entry): Promise<Entry | undefined> => {
    const { path, body, clientAddress } = request;
    const fetched = await fetchJson({
      url: `${marketplaceUrl}${path}`,
      method: body === undefined ? "GET" : "POST",
      body: body && JSON.stringify(body),
      etag: known?.etag,
      clientAddress,
      // Only the sums of an estimate can be that large. Lists have the schemas of vendors, which would slow them down by a single long number.
      keepsLargeIntegers: body !== undefined,
      timeoutMs,
      maxBytes: maxResponseBytes,
    }).catch((error: unknown) => {
      logger.warn({ path: path.split("?", 1)[0], err: error }, "failed to read the marketplace's catalog");
      throw catalogUnavailable(error);
    });
    return toEntry(fetched, known, clock().getTime());
  };

  const load = async (key: string, request: CatalogRequest): Promise<Entry | undefined> => {
    const entries = cacheOf(request);
    const known = entries.get(key);
    try {
      const entry = await fetchEntry(request, known);
      if (entry === undefined) entries.delete(key);
      else entries.set(key, entry);
      return entry;
    } catch (error) {
      const now = clock().getTime();
      if (known === undefined || isRateLimited(error) || now - known.currentAt > maxStaleMs) throw error;
      const stale = { ...known, dueAt: now + retryMs, isStale: true };
      entries.set(key, stale);
      return stale;
    }
  };

  const loadOnce = (key: string, request: CatalogRequest): Promise<Entry | undefined> => {
    const { clientAddress } = request;
    const waiting = pending.get(key);
    if (waiting !== undefined && waiting.clientAddress === clientAddress) return waiting.loading;
    if (waiting !== undefined) {
      return waiting.loading.catch((error: unknown) => {
        // That the other reader asks too often says nothing about this one.
        if (isRateLimited(error)) return loadOnce(key, request);
        throw error;
      });
    }
    const loading = load(key, request).finally(() => pending.delete(key));
    pending.set(key, { clientAddress, loading });
    return loading;
  };

  const loadOrKeep = async (key: string, request: CatalogRequest, known?: Entry): Promise<Entry | undefined> => {
    try {
      return await loadOnce(key, request);
    } catch (error) {
      if (known === undefined || !isRateLimited(error)) throw error;
      const age = clock().getTime() - known.currentAt;
      if (age > maxStaleMs) throw error;
      return age > maxUnconfirmedMs ? { ...known, isStale: true } : known;
    }
  };

  return {
    async read<T>(request: CatalogRequest): Promise<Reading<T> | undefined> {
      const key = request.body === undefined ? request.path : `${request.path} ${JSON.stringify(request.body)}`;
      const known = cacheOf(request).get(key);
      const isDue = known === undefined || known.dueAt <= clock().getTime();
      const entry = isDue ? await loadOrKeep(key, request, known) : known;
      if (entry === undefined) return undefined;
      const { data, headers, currentAt, isStale } = entry;
      return { data: data as T, headers, currentAt: new Date(currentAt), isStale };
    },

    async readUncached<T>(request: CatalogRequest): Promise<T | undefined> {
      return (await fetchEntry(request))?.data as T | undefined;
    },
  };
}

function toEntry(fetched: FetchedJson, known: Entry | undefined, now: number): Entry | undefined {
  const times = { currentAt: now, dueAt: now + freshMs, isStale: false };
  switch (fetched.outcome) {
    case "data":
      return { ...fetched, ...times };
    case "unchanged":
      return known && { ...known, ...times };
    case "absent":
    case "refused":
      return undefined;
    case "rate-limited":
      throw rateLimited(fetched.retryAfter);
  }
}

/** The reader asks too often. That concerns nobody else. */
export const isRateLimited = (error: unknown): boolean =>
  error instanceof Problem && error.kind === standardProblems.rateLimited;

function rateLimited(retryAfter = ""): Problem {
  const seconds = /^\d{1,4}$/.test(retryAfter) ? retryAfter : "60";
  const detail = `Your address has read the catalog too often. Retry in ${seconds} s.`;
  return new Problem(standardProblems.rateLimited, detail, { headers: { "retry-after": seconds } });
}

function catalogUnavailable(cause: unknown): Problem {
  const detail = "The marketplace can't be reached, or responds too slowly.";
  return new Problem(webProblems.upstreamUnavailable, detail, { headers: { "retry-after": "5" }, cause });
}
