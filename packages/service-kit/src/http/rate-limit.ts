import type { FastifyInstance } from "fastify";
import ipaddr from "ipaddr.js";
import { LRUCache } from "lru-cache";
import { Problem, type ProblemKind } from "./problem.ts";
import { standardProblems } from "./standard-problems.ts";

const windowMs = 60_000;
const maxCountedCallers = 100_000;

/** Returns the rate limit key of an address. For IPv6 it is the /64 network, which a single host usually has to itself. */
export function rateLimitKey(address: string): string {
  if (!address.includes(":") || !ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  return parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(":");
}

/** Creates a 429 with `Retry-After` and the `RateLimit-…` headers. */
export function rateLimitProblem(
  kind: ProblemKind,
  detail: string,
  { limit, retryAfterMs }: { limit: number; retryAfterMs: number },
): Problem {
  const seconds = String(Math.max(1, Math.ceil(retryAfterMs / 1_000)));
  return new Problem(kind, `${detail} Retry in ${seconds} s.`, {
    headers: {
      "retry-after": seconds,
      "ratelimit-limit": String(limit),
      "ratelimit-remaining": "0",
      "ratelimit-reset": seconds,
    },
  });
}

export interface RateCounter {
  /** Counts a request of the caller, and returns a problem if that exceeds the limit. */
  count(caller: string): Problem | undefined;
  /** Returns the problem that `count` would return, without counting. */
  check(caller: string): Problem | undefined;
}

/**
 * Counts requests per caller in a fixed window of a minute, which begins with the caller's first request. It is synchronous, unlike
 * libraries that also support remote stores: an asynchronous check would delay every request.
 */
export function createRateCounter(perMinute: number): RateCounter {
  // `maxSize` instead of `max`, which allocates memory for all entries up front; a server has several counters.
  const counts = new LRUCache<string, { requests: number }>({
    maxSize: maxCountedCallers,
    sizeCalculation: () => 1,
    ttl: windowMs,
  });
  const createProblem = (caller: string): Problem =>
    rateLimitProblem(standardProblems.rateLimited, `The limit is ${perMinute} requests per minute and caller.`, {
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
      return count.requests <= perMinute ? undefined : createProblem(caller);
    },
    check(caller) {
      return (counts.get(caller)?.requests ?? 0) < perMinute ? undefined : createProblem(caller);
    },
  };
}

/** Limits the requests per address to the routes of this scope. */
export function limitRate(scope: FastifyInstance, perMinute: number): void {
  const requests = createRateCounter(perMinute);
  scope.addHook("onRequest", (request, _reply, next) => next(requests.count(rateLimitKey(request.ip))));
}
