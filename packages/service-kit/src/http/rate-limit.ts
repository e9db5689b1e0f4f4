import { normalizeIP } from "@fastify/rate-limit";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Problem, type ProblemKind } from "./problem.ts";
import { standardProblems } from "./standard-problems.ts";

const windowMs = 60_000;
const maxCountedCallers = 100_000;

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

/** What limits count as one sender: an IPv4 address, or the /64 network of an IPv6 address, which a single host usually has to itself. */
export const networkOf = (address: string): string => normalizeIP(address);

export interface RateCounter {
  /** Counts a request, and returns a problem if that exceeds the limit. */
  count(request: FastifyRequest): Promise<Problem | undefined>;
  /** Returns the problem that `count` would return, without counting. */
  check(request: FastifyRequest): Promise<Problem | undefined>;
}

export interface RateCounterOptions {
  perMinute: number;
  /** The detail of the problem, to which the time of the retry is added. */
  detail: string;
  keyGenerator?: (request: FastifyRequest) => string;
}

/**
 * Counts requests per key in a fixed window of a minute, which begins with the key's first request. The default key is `networkOf` the
 * address. The server has to have `@fastify/rate-limit`.
 */
export function createRateCounter(
  server: FastifyInstance,
  { perMinute, detail, keyGenerator }: RateCounterOptions,
): RateCounter {
  // Not passed as a literal, because the library's type lacks `cache`.
  const options = {
    max: perMinute,
    timeWindow: windowMs,
    cache: maxCountedCallers,
    ...(keyGenerator && { keyGenerator }),
  };
  const limit = server.createRateLimit(options);
  const createProblem = (retryAfterMs: number): Problem =>
    rateLimitProblem(standardProblems.rateLimited, detail, { limit: perMinute, retryAfterMs });
  return {
    async count(request) {
      const counted = await limit(request);
      return !counted.isAllowed && counted.isExceeded ? createProblem(counted.ttl) : undefined;
    },
    async check(request) {
      const counted = await limit(request, { increment: false });
      return !counted.isAllowed && counted.remaining === 0 ? createProblem(counted.ttl) : undefined;
    },
  };
}

/** Limits the requests per address to the routes of this scope. */
export function limitRate(scope: FastifyInstance, perMinute: number): void {
  const requests = createRateCounter(scope, {
    perMinute,
    detail: `The limit is ${perMinute} requests per minute for each address.`,
  });
  scope.addHook("onRequest", async (request) => {
    const tooMany = await requests.count(request);
    if (tooMany !== undefined) throw tooMany;
  });
}
