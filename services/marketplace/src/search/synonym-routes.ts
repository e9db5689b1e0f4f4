import { putSearchSynonymsBody, searchSynonyms } from "@ehr-marketplace/contracts";
import { etagPattern, problemResponses, requireIfMatch } from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { requestContextOf } from "../access/request-context.ts";
import { putSynonyms, readSynonyms, type SynonymDeps } from "./edit-synonyms.ts";

const maxBodyBytes = 256 * 1_024;

const synonymsResponse = (description: string): object => ({
  description,
  headers: { etag: { type: "string", description: "The version, for `If-Match`" } },
  content: { "application/json": { schema: { $ref: "SearchSynonyms#" } } },
});

export async function synonymRoutes(scope: FastifyInstance, options: SynonymDeps): Promise<void> {
  scope.addSchema(searchSynonyms);
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();
  const tags = ["Catalog"];

  routes.get(
    "/admin/search-synonyms",
    {
      config: { access: ["operator", "auditor"] },
      schema: {
        tags,
        operationId: "getSearchSynonyms",
        summary: "Get the synonyms of search",
        description: "All synonyms and abbreviations that search knows.",
        response: { 200: synonymsResponse("The synonyms"), ...problemResponses(401, 403) },
      },
    },
    async (_request, reply) => {
      const { etag, synonyms } = await readSynonyms(options.database);
      return reply.header("etag", etag).send({ synonyms });
    },
  );

  routes.put(
    "/admin/search-synonyms",
    {
      bodyLimit: maxBodyBytes,
      onRequest: requireIfMatch,
      config: { access: ["operator"] },
      schema: {
        tags,
        operationId: "putSearchSynonyms",
        summary: "Replace the synonyms of search",
        description:
          "Replaces all synonyms. Read them first, and send the `ETag` as `If-Match`, so that no one else's change is lost. Takes effect at once.",
        headers: Type.Object({
          "if-match": Type.String({
            maxLength: 100,
            pattern: etagPattern,
            description: "The `ETag` of the synonyms that were read",
          }),
        }),
        body: putSearchSynonymsBody,
        response: {
          200: synonymsResponse("The synonyms as they are now"),
          ...problemResponses(401, 403, 412, 413, 415, 428),
        },
      },
    },
    async (request, reply) => {
      const by = requestContextOf(request);
      const { etag, synonyms } = await putSynonyms(options, by, request.body.synonyms, request.headers["if-match"]);
      return reply.header("etag", etag).send({ synonyms });
    },
  );
}
