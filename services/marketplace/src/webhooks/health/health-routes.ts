import { heldEhrDto, type PageQuery, pageQuery, webhookHealthDto } from "@ehr-marketplace/contracts";
import { answerOf, problemResponses } from "@ehr-marketplace/service-kit/http";
import type { FastifyInstance } from "fastify";
import { type ReadingHealth, readHealth } from "./read-health.ts";

export async function healthRoutes(scope: FastifyInstance, options: ReadingHealth): Promise<void> {
  for (const schema of [heldEhrDto, webhookHealthDto]) scope.addSchema(schema);

  scope.get(
    "/admin/webhooks/health",
    {
      config: { access: ["operator", "auditor"], waitsOnlyForDatabase: true },
      schema: {
        tags: ["Webhooks"],
        operationId: "webhookHealth",
        summary: "See how delivery is getting on",
        description:
          "What is due, how old it is, what became of it lately, and whose EHR is not to be reached. Counts end at 10,000, so that the answer comes soon when there are millions.",
        querystring: pageQuery,
        response: {
          200: answerOf("How delivery is getting on", "WebhookHealthDto"),
          ...problemResponses(401, 403),
        },
      },
    },
    (request) => readHealth(options, request.query as PageQuery),
  );
}
