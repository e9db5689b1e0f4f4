import { heldEhrDto, heldOriginDto, type PageQuery, pageQuery, webhookHealthDto } from "@ehr-marketplace/contracts";
import { problemResponses, responseOf } from "@ehr-marketplace/service-kit/http";
import type { FastifyInstance } from "fastify";
import { type HealthDeps, readHealth } from "./read-health.ts";

export async function healthRoutes(scope: FastifyInstance, options: HealthDeps): Promise<void> {
  for (const schema of [heldEhrDto, heldOriginDto, webhookHealthDto]) scope.addSchema(schema);

  scope.get(
    "/admin/webhooks/health",
    {
      config: { access: ["operator", "auditor"] },
      schema: {
        tags: ["Webhooks"],
        operationId: "webhookHealth",
        summary: "Get the health of webhook delivery",
        description:
          "Undelivered deliveries and their age, outcomes of recent attempts, and EHRs and hosts that can't be reached. `limit` and `after` apply to `heldEhrs`. Counts stop at 10,000, so that the response is fast also with millions of deliveries.",
        querystring: pageQuery,
        response: {
          200: responseOf("The health of webhook delivery", "WebhookHealthDto"),
          ...problemResponses(401, 403),
        },
      },
    },
    (request) => readHealth(options, request.query as PageQuery),
  );
}
