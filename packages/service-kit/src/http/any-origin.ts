import type { FastifyInstance } from "fastify";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Browsers may read the answer from any page: it is public. */
    anyOrigin?: boolean;
  }
}

export const exposedHeaders = [
  "ETag",
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
  "access-control-allow-methods": "GET, HEAD",
  "access-control-allow-headers": "*",
  "access-control-max-age": "86400",
};

/**
 * Lets pages of any origin read this scope's answers at and below the path, problems included. The headers are fixed, and set with those that
 * guard every answer, so that even what is refused before its route's own hooks run can be read.
 */
export function allowAnyOrigin(scope: FastifyInstance, path: string): void {
  scope.addHook("onRoute", (route) => {
    route.config = { ...route.config, anyOrigin: true };
  });
  scope.options(`${path}*`, { schema: { hide: true }, config: { access: "anyone" } }, (_request, reply) =>
    reply.code(204).headers(preflightHeaders).send(),
  );
}
