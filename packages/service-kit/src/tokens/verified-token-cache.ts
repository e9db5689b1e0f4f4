import { LRUCache } from "lru-cache";
import type { Caller } from "./caller.ts";

interface Verified {
  caller: Caller;
  expiresAtMs: number;
}

const maxBytes = 16 * 1_048_576;
const overheadBytes = 1_000;

/**
 * Caches verified tokens until they expire or the issuer's keys are fetched again. Pages send many requests with the same token, and
 * verifying the signature costs more than the rest of a warm request.
 */
export function createVerifiedTokenCache(skewSeconds: number) {
  const newCache = (): LRUCache<string, Verified> =>
    new LRUCache({ maxSize: maxBytes, sizeCalculation: (_verified, token) => token.length + overheadBytes });
  let cache = newCache();
  return {
    find(token: string): Caller | undefined {
      const verified = cache.get(token);
      return verified !== undefined && Date.now() < verified.expiresAtMs ? verified.caller : undefined;
    },
    /** Call it before verifying: a token that is verified with keys replaced meanwhile goes into the discarded cache. */
    createStore() {
      const current = cache;
      return (token: string, caller: Caller, expiresAt: number): void => {
        current.set(token, { caller, expiresAtMs: (expiresAt + skewSeconds) * 1_000 });
      };
    },
    clear(): void {
      cache = newCache();
    },
  };
}
