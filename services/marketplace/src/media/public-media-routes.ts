import { limitRate, Problem, standardProblems } from "@ehr-marketplace/service-kit/http";
import type { FastifyInstance } from "fastify";
import { getPublishedMedia, type ReadMediaDeps } from "./read-media.ts";
import { sandboxIcon, sandboxIconEtag, sandboxIconPath } from "./sandbox-icon.ts";
import { createDownloadSlots, fileHeaders, isKnown, maxTransferMs, sendMedia } from "./send-media.ts";

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const headers = {
  "access-control-allow-origin": "*",
  "cross-origin-resource-policy": "cross-origin",
  // A file never changes, but an operator may suspend its app or purge it: caches ask again after an hour.
  "cache-control": "public, max-age=3600, must-revalidate",
};

interface PublicMediaOptions extends ReadMediaDeps {
  requestsPerMinute: number;
}

/** Serves published media. */
export async function publicMediaRoutes(scope: FastifyInstance, options: PublicMediaOptions): Promise<void> {
  limitRate(scope, options.requestsPerMinute);
  const downloadSlots = createDownloadSlots();

  scope.get(sandboxIconPath, { config: { access: "anyone" }, schema: { hide: true } }, (request, reply) => {
    void reply.headers({ ...headers, ...fileHeaders, etag: sandboxIconEtag });
    if (isKnown(request, sandboxIconEtag)) return reply.code(304).send();
    return reply.type("image/png").send(sandboxIcon);
  });

  scope.get<{ Params: { id: string } }>(
    "/media/:id",
    {
      config: { access: "anyone", timeoutMs: maxTransferMs },
      schema: {
        hide: true,
        params: {
          type: "object",
          required: ["id"],
          properties: { id: { type: "string", maxLength: 15_000 } },
        },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      if (!uuid.test(id)) throw new Problem(standardProblems.notFound, "No media has that id.");
      const file = await getPublishedMedia(options, id);
      void reply.headers(headers);
      return sendMedia(options, downloadSlots, { request, reply, file });
    },
  );
}
