import { LRUCache } from "lru-cache";
import type { Representation } from "./representation.ts";

type Load = () => Promise<Representation>;

/**
 * Caches responses in this process until `invalidate` is called.
 *
 * The generation is part of every key: a response whose loading began before an invalidation is stored under the old generation and
 * never read, so a stale response can't reappear.
 */
export class ResponseCache {
  readonly #entries: LRUCache<string, Representation, Load> | undefined;
  #generation = 0;

  /** A lifetime of 0 disables caching and the sharing of loads. */
  constructor(options: { lifetimeMs: number; maxBytes: number }) {
    if (options.lifetimeMs === 0) return;
    this.#entries = new LRUCache<string, Representation, Load>({
      ttl: options.lifetimeMs,
      maxSize: options.maxBytes,
      // The compressed forms are added later and are smaller; a factor of 1.5 leaves room for both.
      sizeCalculation: ({ plain, headers }, key) =>
        Math.ceil(plain.body.length * 1.5) + key.length + JSON.stringify(headers).length + 500,
      fetchMethod: (_key, _stale, { context: load }) => load(),
      // A pending load may be evicted when the cache is full; its callers still get their response.
      ignoreFetchAbort: true,
    });
  }

  /** Concurrent calls with the same key share one load. */
  async get(key: string, load: Load): Promise<Representation> {
    if (this.#entries === undefined) return load();
    return this.#entries.forceFetch(`${this.#generation} ${key}`, { context: load });
  }

  /** Doesn't call `clear()`, which would reject pending loads: old entries are evicted by size and lifetime. */
  invalidate(): void {
    this.#generation += 1;
  }
}
