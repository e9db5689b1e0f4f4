import { LRUCache } from "lru-cache";
import type { Representation } from "./representation.ts";

type Load = () => Promise<Representation>;

/** How long a list may be served after something in it changed, while it is loaded again. */
const maxStaleMs = 500;
/** Generations of lists that are looked at for a stale one, however often something changes. */
const maxStaleGenerations = 20;
/** Changed names that are remembered. When there are more, everything is invalidated. */
const maxNames = 10_000;

/**
 * Caches responses in this process until what they show changes: responses about one thing until that thing changes, lists until
 * anything does. A list is served for a moment longer while it is loaded again, so that frequent changes don't make readers wait.
 *
 * Generations are part of every key: a response whose loading began before an invalidation is stored under the old generation, so a
 * stale response can't reappear later.
 */
export class ResponseCache {
  readonly #entries: LRUCache<string, Representation, Load> | undefined;
  readonly #now: () => number;
  #generation = 0;
  readonly #nameGenerations = new Map<string, number>();
  #listGeneration = 0;
  /** When each of the last generations of lists ended, the newest last. */
  #listChanges: number[] = [];

  /** A lifetime of 0 disables caching and the sharing of loads. */
  constructor(options: { lifetimeMs: number; maxBytes: number }, now: () => number = () => performance.now()) {
    this.#now = now;
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

  /** A response about one thing. Concurrent calls with the same key share one load. */
  async getOne(name: string, key: string, load: Load): Promise<Representation> {
    if (this.#entries === undefined) return load();
    const generation = `${this.#generation}.${this.#nameGenerations.get(name) ?? 0}`;
    return this.#entries.forceFetch(`one ${generation} ${key}`, { context: load });
  }

  /** A response about many things. */
  async getList(key: string, load: Load): Promise<Representation> {
    if (this.#entries === undefined) return load();
    const keyOf = (generation: number): string => `list ${this.#generation}.${generation} ${key}`;
    const stale = this.#entries.has(keyOf(this.#listGeneration)) ? undefined : this.#findStale(keyOf);
    const fresh = this.#entries.forceFetch(keyOf(this.#listGeneration), { context: load });
    if (stale === undefined) return fresh;
    // If loading fails, the requests after the stale moment get the error.
    fresh.catch(() => undefined);
    return stale;
  }

  #findStale(keyOf: (generation: number) => string): Representation | undefined {
    const since = this.#now() - maxStaleMs;
    for (const [back, endedAt] of this.#listChanges.toReversed().entries()) {
      if (endedAt < since) return undefined;
      const found = this.#entries?.get(keyOf(this.#listGeneration - 1 - back));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Doesn't call `clear()`, which would reject pending loads: old entries are evicted by size and lifetime. */
  invalidate(): void {
    this.#generation += 1;
    this.#nameGenerations.clear();
    this.#listChanges = [];
  }

  /** Invalidates the responses about these things, and all lists. */
  invalidateNames(names: readonly string[]): void {
    for (const name of names) this.#nameGenerations.set(name, (this.#nameGenerations.get(name) ?? 0) + 1);
    if (this.#nameGenerations.size > maxNames) {
      this.invalidate();
      return;
    }
    this.#listGeneration += 1;
    this.#listChanges = [...this.#listChanges.slice(1 - maxStaleGenerations), this.#now()];
  }
}
