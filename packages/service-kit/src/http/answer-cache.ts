import { LRUCache } from "lru-cache";
import type { Representation } from "./representation.ts";

type Load = () => Promise<Representation>;

/**
 * Answers kept in this process until somebody says that what they were made from has changed.
 *
 * The generation is part of every key: an answer whose loading began before a change settles under the old generation,
 * where nobody looks, so that no stale answer can come back after `dropAll`.
 */
export class AnswerCache {
  readonly #entries: LRUCache<string, Representation, Load> | undefined;
  #generation = 0;

  /** With a lifetime of 0 nothing is kept, and nothing shared. */
  constructor(options: { lifetimeMs: number; maxBytes: number }) {
    if (options.lifetimeMs === 0) return;
    this.#entries = new LRUCache<string, Representation, Load>({
      ttl: options.lifetimeMs,
      maxSize: options.maxBytes,
      // The compressed forms come later and are smaller; half the size again leaves room for both.
      sizeCalculation: (answer, key) => Math.ceil(answer.plain.body.length * 1.5) + key.length + 500,
      fetchMethod: (_key, _stale, { context: load }) => load(),
      // Others may fill the cache while a load is under way: it loses its place then, but its callers get their answer.
      ignoreFetchAbort: true,
    });
  }

  /** Callers that ask for the same key while it is being loaded share one load. */
  get(key: string, load: Load): Representation | Promise<Representation> {
    if (this.#entries === undefined) return load();
    const current = `${this.#generation} ${key}`;
    return this.#entries.get(current) ?? this.#entries.forceFetch(current, { context: load });
  }

  /** Not `clear()`, which would fail the callers who wait for a load: size and lifetime see the old entries out. */
  dropAll(): void {
    this.#generation += 1;
  }
}
