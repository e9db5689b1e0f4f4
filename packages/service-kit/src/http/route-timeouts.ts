import type { FastifyInstance } from "fastify";

declare module "fastify" {
  interface FastifyContextConfig {
    /** How long a request to the route may take, where the server's limit is too short for its files. */
    timeoutMs?: number;
  }
}

/**
 * Gives routes their `timeoutMs`. Node has one limit for receiving requests, which becomes that of the slowest route. The handler's limit
 * begins when the headers are received and covers the body, so the other routes keep the server's.
 */
export function allowSlowRoutes(server: FastifyInstance, requestMs: number): void {
  server.addHook("onRoute", (route) => {
    const timeoutMs = route.config?.timeoutMs ?? 0;
    if (timeoutMs <= requestMs) return;
    route.handlerTimeout = timeoutMs;
    server.server.requestTimeout = Math.max(server.server.requestTimeout, timeoutMs);
  });
}
