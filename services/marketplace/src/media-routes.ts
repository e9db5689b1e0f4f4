import { allowAnyone, Problem, standardProblems } from "@ehr-marketplace/service-kit/http";
import fastifyStatic from "@fastify/static";
import type { FastifyInstance } from "fastify";

/** File systems limit names to 255 bytes; beyond that their error would become a 500. */
const maxPathLength = 255;

/** Serves images of apps. A browser opens an SVG as a page, so the content security policy forbids scripts and loading. */
export async function mediaRoutes(scope: FastifyInstance, options: { directory: string }): Promise<void> {
  allowAnyone(scope);
  scope.addHook("onRequest", (request, _reply, next) => {
    const isTooLong = (request.url.split("?", 1)[0] ?? "").length > maxPathLength;
    next(isTooLong ? new Problem(standardProblems.notFound, "The path is too long.") : undefined);
  });
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
