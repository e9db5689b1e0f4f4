import { LRUCache } from "lru-cache";
import type { Caller } from "./caller.ts";

interface Verified {
  caller: Caller;
  expiresAtMs: number;
}

const mostBytes = 16 * 1_048_576;
const bytesBesideToken = 1_000;

/**
 * Tokens that were verified, to the letter, until they expire or the issuer's keys are fetched anew. A page asks many times
 * with the same token, and its signature costs more than all else that a warm request needs.
 */
export function rememberTokens(skewSeconds: number) {
  const newCache = (): LRUCache<string, Verified> =>
    new LRUCache({ maxSize: mostBytes, sizeCalculation: (_verified, token) => token.length + bytesBesideToken });
  let cache = newCache();
  return {
    find(token: string): Caller | undefined {
      const verified = cache.get(token);
      return verified !== undefined && Date.now() < verified.expiresAtMs ? verified.caller : undefined;
    },
    /** Taken before a token is verified: what was verified with keys that are old by then is not remembered. */
    rememberer() {
      const current = cache;
      return (token: string, caller: Caller, expiresAt: number): void => {
        current.set(token, { caller, expiresAtMs: (expiresAt + skewSeconds) * 1_000 });
      };
    },
    forgetAll(): void {
      cache = newCache();
    },
  };
}
