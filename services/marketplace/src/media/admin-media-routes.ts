import { purgedMediaParams } from "@ehr-marketplace/contracts";
import { problemResponses, requireNoBody } from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { requestContextOf } from "../access/request-context.ts";
import { type PurgeDeps, purgeMedia } from "./purge-media.ts";

const noContent: object = { description: "The file is purged", type: "null" };

export async function adminMediaRoutes(scope: FastifyInstance, options: PurgeDeps): Promise<void> {
  scope.withTypeProvider<TypeBoxTypeProvider>().delete(
    "/admin/media/:id",
    {
      preValidation: requireNoBody,
      config: { access: ["operator"] },
      schema: {
        tags: ["Apps"],
        operationId: "purgeMedia",
        summary: "Purge a file",
        description:
          "For a file that must not be shown to anybody, such as a screenshot with a patient's name. Its bytes are deleted, in all listings of its vendor that have the same file, and the vendor can't upload it again. Other vendors' files with the same content stay: purge each of them. The catalog shows another icon, or a screenshot less; the link of a document is 410. It can't be undone. Repeating it changes nothing.",
        params: purgedMediaParams,
        response: { 204: noContent, ...problemResponses(401, 403, 404, 413, 415) },
      },
    },
    async (request, reply) => {
      await purgeMedia(options, requestContextOf(request), request.params.id);
      return reply.code(204).send();
    },
  );
}
