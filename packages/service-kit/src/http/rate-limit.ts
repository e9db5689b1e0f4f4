import type { FastifyInstance } from "fastify";
import ipaddr from "ipaddr.js";
import { LRUCache } from "lru-cache";
import { Problem } from "./problem.ts";
import { standardProblems } from "./standard-problems.ts";

const windowMs = 60_000;
const mostCallersCounted = 100_000;

/** An IPv6 caller is its /64: a single host has that many addresses. */
function callerOf(address: string): string {
  if (!address.includes(":") || !ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(":") : parsed.toString();
}

/**
 * Counts the requests of each caller to this scope's routes, from its first one on, for a minute. It answers at once, and
 * not with a promise as libraries do that can also count in a store elsewhere: all that follows would have to wait for it.
 */
export function limitRate(scope: FastifyInstance, perMinute: number): void {
  const counts = new LRUCache<string, { requests: number }>({ max: mostCallersCounted, ttl: windowMs });
  scope.addHook("onRequest", (request, _reply, next) => {
    const caller = callerOf(request.ip);
    const count = counts.get(caller);
    if (count === undefined) {
      counts.set(caller, { requests: 1 });
      next();
      return;
    }
    count.requests += 1;
    if (count.requests <= perMinute) {
      next();
      return;
    }
    const seconds = String(Math.max(1, Math.ceil(counts.getRemainingTTL(caller) / 1_000)));
    next(
      new Problem(standardProblems.rateLimited, `At most ${perMinute} requests a minute are served to one caller.`, {
        headers: {
          "retry-after": seconds,
          "ratelimit-limit": String(perMinute),
          "ratelimit-remaining": "0",
          "ratelimit-reset": seconds,
        },
      }),
    );
  });
}
