import type { FastifyInstance } from "fastify";

/** Sets `no-store`, because responses depend on the caller and must not be shared by caches. */
export function disableCaching(scope: FastifyInstance): void {
  scope.addHook("onRequest", (_request, reply, next) => {
    reply.header("cache-control", "no-store");
    next();
  });
}
