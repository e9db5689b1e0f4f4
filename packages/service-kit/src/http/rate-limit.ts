import type { FastifyInstance } from "fastify";
import ipaddr from "ipaddr.js";
import { LRUCache } from "lru-cache";
import { Problem, type ProblemKind } from "./problem.ts";
import { standardProblems } from "./standard-problems.ts";

const windowMs = 60_000;
const mostCallersCounted = 100_000;

/** An IPv6 caller is its /64: a single host has that many addresses. */
export function addressCounted(address: string): string {
  if (!address.includes(":") || !ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  return parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(":");
}

/** A 429 that says when the next request is served. */
export function rateLimited(
  kind: ProblemKind,
  detail: string,
  { limit, retryAfterMs }: { limit: number; retryAfterMs: number },
): Problem {
  const seconds = String(Math.max(1, Math.ceil(retryAfterMs / 1_000)));
  return new Problem(kind, `${detail} Try again in ${seconds} s.`, {
    headers: {
      "retry-after": seconds,
      "ratelimit-limit": String(limit),
      "ratelimit-remaining": "0",
      "ratelimit-reset": seconds,
    },
  });
}

export interface RateCounter {
  /** Counts one more for the caller; answers the problem that it then meets, or nothing. */
  count(caller: string): Problem | undefined;
  /** The same without counting. */
  exceeded(caller: string): Problem | undefined;
}

/**
 * Counts what each caller does, from its first time on, for a minute. It answers at once, and not with a promise as
 * libraries do that can also count in a store elsewhere: all that follows would have to wait for it.
 */
export function rateCounter(perMinute: number): RateCounter {
  // Not by `max`, which takes the memory for that many at once: a server has several of these.
  const counts = new LRUCache<string, { requests: number }>({
    maxSize: mostCallersCounted,
    sizeCalculation: () => 1,
    ttl: windowMs,
  });
  const tooMany = (caller: string): Problem =>
    rateLimited(standardProblems.rateLimited, `At most ${perMinute} requests a minute are served to one caller.`, {
      limit: perMinute,
      retryAfterMs: counts.getRemainingTTL(caller),
    });
  return {
    count(caller) {
      const count = counts.get(caller);
      if (count === undefined) {
        counts.set(caller, { requests: 1 });
        return undefined;
      }
      count.requests += 1;
      return count.requests <= perMinute ? undefined : tooMany(caller);
    },
    exceeded(caller) {
      return (counts.get(caller)?.requests ?? 0) < perMinute ? undefined : tooMany(caller);
    },
  };
}

/** Counts the requests of each address to this scope's routes. */
export function limitRate(scope: FastifyInstance, perMinute: number): void {
  const requests = rateCounter(perMinute);
  scope.addHook("onRequest", (request, _reply, next) => next(requests.count(addressCounted(request.ip))));
}
