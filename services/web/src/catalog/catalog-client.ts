import { Problem } from "@ehr-marketplace/service-kit/http";
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
}

export interface CatalogClient {
  /** Undefined if the marketplace has no such thing, or refuses the request as invalid. */
  read<T>(request: CatalogRequest): Promise<Reading<T> | undefined>;
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
/** A page of 100 apps with the longest descriptions and schemas. */
const maxResponseBytes = 16 * 1_048_576;
const maxCachedBytes = 64 * 1_048_576;
const maxEntries = 5_000;

/** Reads the marketplace's public API, and caches what it reads in this process. */
export function createCatalogClient(options: CatalogClientOptions): CatalogClient {
  const { marketplaceUrl, logger, clock, timeoutMs } = options;
  const entries = new LRUCache<string, Entry>({
    max: maxEntries,
    maxSize: maxCachedBytes,
    // Parsed JSON takes about twice as much memory as its text.
    sizeCalculation: ({ bytes }, key) => bytes * 2 + key.length + 500,
  });
  const pending = new Map<string, Promise<Entry | undefined>>();

  const load = async (key: string, request: CatalogRequest): Promise<Entry | undefined> => {
    const known = entries.get(key);
    try {
      const fetched = await fetchJson({
        url: `${marketplaceUrl}${request.path}`,
        method: request.body === undefined ? "GET" : "POST",
        body: request.body && JSON.stringify(request.body),
        etag: known?.etag,
        clientAddress: request.clientAddress,
        timeoutMs,
        maxBytes: maxResponseBytes,
      });
      const entry = toEntry(fetched, known, clock().getTime());
      if (entry === undefined) entries.delete(key);
      else entries.set(key, entry);
      return entry;
    } catch (error) {
      logger.warn({ path: request.path.split("?", 1)[0], err: error }, "failed to read the marketplace's catalog");
      const now = clock().getTime();
      if (known === undefined || now - known.currentAt > maxStaleMs) throw catalogUnavailable(error);
      const stale = { ...known, dueAt: now + retryMs, isStale: true };
      entries.set(key, stale);
      return stale;
    }
  };

  const loadOnce = (key: string, request: CatalogRequest): Promise<Entry | undefined> => {
    const waiting = pending.get(key);
    if (waiting !== undefined) return waiting;
    const loading = load(key, request).finally(() => pending.delete(key));
    pending.set(key, loading);
    return loading;
  };

  return {
    async read<T>(request: CatalogRequest): Promise<Reading<T> | undefined> {
      const key = request.body === undefined ? request.path : `${request.path} ${JSON.stringify(request.body)}`;
      const known = entries.get(key);
      const isDue = known === undefined || known.dueAt <= clock().getTime();
      const entry = isDue ? await loadOnce(key, request) : known;
      if (entry === undefined) return undefined;
      const { data, headers, currentAt, isStale } = entry;
      return { data: data as T, headers, currentAt: new Date(currentAt), isStale };
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
  }
}

function catalogUnavailable(cause: unknown): Problem {
  const detail = "The marketplace can't be reached, or responds too slowly.";
  return new Problem(webProblems.upstreamUnavailable, detail, { headers: { "retry-after": "5" }, cause });
}
