import { LRUCache } from "lru-cache";
import type { Representation } from "./representation.ts";

type Load = () => Promise<Representation>;

/** Lists are loaded again at most this often, however many changes there are. */
const minListIntervalMs = 500;
/** How long a list may then be served while it is loaded again. With the interval, it is at most 900 ms behind a change. */
const maxStaleMs = 400;
/** Changed names that are remembered. When there are more, everything is invalidated. */
const maxNames = 10_000;

/**
 * Caches responses in this process until what they show changes: responses about one thing until that thing changes, lists until
 * anything does. Changes that follow each other within half a second invalidate the lists together, and a list is served for a moment
 * longer while it is loaded again: frequent changes neither make readers wait nor load the lists all the time.
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
  /** When the last generation of lists ended: the one before the current one may be served for a moment after it. */
  #listsEndedAt = Number.NEGATIVE_INFINITY;
  /** The first change that the current generation of lists may lack. */
  #listsChangedAt: number | undefined;
  /** Lists to load again while stale ones are served, by key. */
  readonly #reloads = new Map<string, Load>();
  #isReloading = false;

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
    this.#endLists();
    const keyOf = (generation: number): string => `list ${this.#generation}.${generation} ${key}`;
    const current = keyOf(this.#listGeneration);
    const mayBeStale = this.#now() - this.#listsEndedAt <= maxStaleMs && !this.#entries.has(current);
    const stale = mayBeStale ? this.#entries.get(keyOf(this.#listGeneration - 1)) : undefined;
    if (stale === undefined) return this.#entries.forceFetch(current, { context: load });
    this.#reloads.set(current, load);
    if (!this.#isReloading) void this.#reload(this.#entries);
    return stale;
  }

  /** Loads lists again one after another: all at once, they would keep every core of the database busy. */
  async #reload(entries: LRUCache<string, Representation, Load>): Promise<void> {
    this.#isReloading = true;
    for (const [key, load] of this.#reloads) {
      // If loading fails, the requests after the stale moment get the error.
      await entries.forceFetch(key, { context: load }).catch(() => undefined);
      this.#reloads.delete(key);
    }
    this.#isReloading = false;
  }

  /** Ends the current generation of lists if something changed, unless it began less than the interval ago. */
  #endLists(): void {
    if (this.#listsChangedAt === undefined) return;
    const endsAt = Math.max(this.#listsChangedAt, this.#listsEndedAt + minListIntervalMs);
    if (this.#now() < endsAt) return;
    this.#listGeneration += 1;
    this.#listsEndedAt = endsAt;
    this.#listsChangedAt = undefined;
    this.#reloads.clear();
  }

  /** Doesn't call `clear()`, which would reject pending loads: old entries are evicted by size and lifetime. */
  invalidate(): void {
    this.#generation += 1;
    this.#nameGenerations.clear();
    this.#listsChangedAt = undefined;
    this.#reloads.clear();
  }

  /** Invalidates the responses about these things, and all lists. */
  invalidateNames(names: readonly string[]): void {
    for (const name of names) this.#nameGenerations.set(name, (this.#nameGenerations.get(name) ?? 0) + 1);
    if (this.#nameGenerations.size > maxNames) {
      this.invalidate();
      return;
    }
    this.#listsChangedAt ??= this.#now();
    this.#endLists();
  }
}
