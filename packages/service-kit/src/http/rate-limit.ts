import rateLimit from "@fastify/rate-limit";
import type { FastifyInstance } from "fastify";

const mostCallersCounted = 100_000;

/** Counts each caller of this scope's routes. An IPv6 caller is its /64: a single host has that many addresses. */
export async function limitRate(scope: FastifyInstance, perMinute: number): Promise<void> {
  await scope.register(rateLimit, {
    max: perMinute,
    timeWindow: 60_000,
    cache: mostCallersCounted,
    enableDraftSpec: true,
    addHeadersOnExceeding: { "ratelimit-limit": false, "ratelimit-remaining": false, "ratelimit-reset": false },
  });
}
