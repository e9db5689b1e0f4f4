import type { FastifyInstance } from "fastify";

/** What one caller may see, no cache on the way may keep for the next. */
export function neverCache(scope: FastifyInstance): void {
  scope.addHook("onRequest", (_request, reply, next) => {
    reply.header("cache-control", "no-store");
    next();
  });
}
