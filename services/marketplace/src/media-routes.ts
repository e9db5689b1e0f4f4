import { openToAnyone, Problem, standardProblems } from "@ehr-marketplace/service-kit/http";
import fastifyStatic from "@fastify/static";
import type { FastifyInstance } from "fastify";

/** File systems take names of up to 255 bytes, and an error of the file system would be 500. */
const maxPathLength = 255;

/** Pictures of apps. An SVG opened by itself is a page: it may neither run nor load anything. */
export async function mediaRoutes(scope: FastifyInstance, options: { directory: string }): Promise<void> {
  openToAnyone(scope);
  scope.addHook("onRequest", (request, _reply, next) => {
    const isTooLong = (request.url.split("?", 1)[0] ?? "").length > maxPathLength;
    next(isTooLong ? new Problem(standardProblems.notFound, "No file has a name that long.") : undefined);
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
