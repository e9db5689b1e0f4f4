import { chargeLine, estimateDto, subscriptionParams } from "@ehr-marketplace/contracts";
import { getCaller, problemResponses, responseOf } from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { developerHeaders } from "../access/vendor-context.ts";
import { type BillingDeps, readEstimate } from "./read-estimate.ts";

export async function billingRoutes(scope: FastifyInstance, options: BillingDeps): Promise<void> {
  for (const schema of [chargeLine, estimateDto]) scope.addSchema(schema);
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();
  const tags = ["Billing"];

  routes.get(
    "/subscriptions/:id/estimate",
    {
      config: { access: ["org-member", "org-admin", "vendor-developer", "billing", "auditor", "operator"] },
      schema: {
        tags,
        operationId: "readEstimate",
        summary: "Estimate what a subscription costs this month",
        description:
          "The current month so far, today included, and projected: as if the subscription stays as it is, and usage goes on at its rate of this month. For everyone who may read the subscription.",
        headers: developerHeaders,
        params: subscriptionParams,
        response: { 200: responseOf("The month so far", "EstimateDto"), ...problemResponses(401, 403, 404) },
      },
    },
    (request) => readEstimate(options, getCaller(request), request.params.id, request.headers["x-vendor-slug"]),
  );
}
