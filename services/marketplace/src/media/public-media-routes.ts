import { limitRate, Problem, standardProblems } from "@ehr-marketplace/service-kit/http";
import fastifyStatic from "@fastify/static";
import type { FastifyInstance } from "fastify";
import { getPublishedMedia, type ReadMediaDeps } from "./read-media.ts";
import type { RequestSlots } from "./request-slots.ts";
import { sendMedia } from "./send-media.ts";

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** File systems limit names to 255 bytes; beyond that their error would become a 500. */
const fileName = /^[\w-][\w.-]{0,254}$/;
const forAnyPage = { "access-control-allow-origin": "*", "cross-origin-resource-policy": "cross-origin" };

interface PublicMediaOptions extends ReadMediaDeps {
  downloadSlots: RequestSlots;
  requestsPerMinute: number;
  /** The operator's own pictures: the files that are directly in this folder. */
  directory: string | undefined;
}

/** Serves published media by id, and the operator's own pictures by name. */
export async function publicMediaRoutes(scope: FastifyInstance, options: PublicMediaOptions): Promise<void> {
  limitRate(scope, options.requestsPerMinute);
  const { directory } = options;
  if (directory !== undefined) await scope.register(fastifyStatic, { root: directory, serve: false, index: false });

  scope.get<{ Params: { name: string } }>(
    "/media/:name",
    {
      config: { access: "anyone" },
      schema: {
        hide: true,
        params: {
          type: "object",
          required: ["name"],
          properties: { name: { type: "string", maxLength: 15_000 } },
        },
      },
    },
    async (request, reply) => {
      const { name } = request.params;
      if (uuid.test(name)) {
        const file = await getPublishedMedia(options, name);
        void reply.headers({ ...forAnyPage, "cache-control": "public, max-age=31536000, immutable" });
        return sendMedia(options, options.downloadSlots, { request, reply, file });
      }
      if (directory === undefined || !fileName.test(name)) {
        throw new Problem(standardProblems.notFound, "No media has that name.");
      }
      // A browser opens an SVG as a page, so the policy forbids scripts and loading.
      void reply.headers({
        ...forAnyPage,
        "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      });
      return reply.sendFile(name, { maxAge: "1h" });
    },
  );
}
