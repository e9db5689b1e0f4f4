import { openToAnyone } from "@ehr-marketplace/service-kit/http";
import fastifyStatic from "@fastify/static";
import type { FastifyInstance } from "fastify";

/** Pictures of apps. An SVG opened by itself is a page: it may neither run nor load anything. */
export async function mediaRoutes(scope: FastifyInstance, options: { directory: string }): Promise<void> {
  openToAnyone(scope);
  await scope.register(fastifyStatic, {
    root: options.directory,
    index: false,
    maxAge: "1h",
    schemaHide: true,
    setHeaders: (reply) => {
      reply.header("access-control-allow-origin", "*");
      reply.header("cross-origin-resource-policy", "cross-origin");
      reply.header("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox");
    },
  });
}
