import type { FastifyInstance } from "fastify";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The response is public: pages of any origin may read it. */
    anyOrigin?: boolean;
  }
}

export const exposedHeaders = [
  "ETag",
  "Link",
  "X-Total-Count",
  "X-Did-You-Mean",
  "X-Request-Id",
  "Retry-After",
  "RateLimit-Limit",
  "RateLimit-Remaining",
  "RateLimit-Reset",
];

export const anyOriginHeaders = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": exposedHeaders.join(", "),
};

const preflightHeaders = {
  "access-control-allow-methods": "GET, HEAD, POST",
  "access-control-allow-headers": "*",
  "access-control-max-age": "86400",
};

/**
 * Allows pages of any origin to read this scope's responses at and below the paths, problems included. The headers are fixed and set
 * together with the standard headers, so that pages can also read responses sent before the route's own hooks run.
 */
export function allowAnyOrigin(scope: FastifyInstance, ...paths: string[]): void {
  scope.addHook("onRoute", (route) => {
    route.config = { ...route.config, anyOrigin: true };
  });
  for (const path of paths) {
    scope.options(`${path}*`, { schema: { hide: true }, config: { access: "anyone" } }, (_request, reply) =>
      reply.code(204).headers(preflightHeaders).send(),
    );
  }
}
