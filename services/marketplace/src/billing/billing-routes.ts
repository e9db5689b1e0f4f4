import { chargeLine, estimateDto, spendLimitBody, spendLimitDto, subscriptionParams } from "@ehr-marketplace/contracts";
import { getCaller, problemResponses, requireNoBody, responseOf } from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { requestContextOf } from "../access/request-context.ts";
import { developerHeaders } from "../access/vendor-context.ts";
import { readEstimate } from "./read-estimate.ts";
import { removeSpendLimit, type SpendLimitDeps, setSpendLimit } from "./set-spend-limit.ts";

const noContent: object = { description: "The subscription has no limit of its own", type: "null" };

export async function billingRoutes(scope: FastifyInstance, options: SpendLimitDeps): Promise<void> {
  for (const schema of [chargeLine, spendLimitDto, estimateDto]) scope.addSchema(schema);
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

  routes.put(
    "/subscriptions/:id/spend-limit",
    {
      config: { access: ["org-admin", "operator"] },
      schema: {
        tags,
        operationId: "setSpendLimit",
        summary: "Limit what a subscription may cost in a month",
        description:
          "Compared with the month so far, as `GET /subscriptions/{id}/estimate` of the organisation's last subscription to the app shows it, without credits: when usage is reported, and at the begin of each day. The organisation is told at 80 % and at 100 %, once each, and again after the limit has changed. A limit below what the month has cost already is refused, unless `confirm` is true. With `pause`, usage that would take its month above the limit is rejected, which pauses the subscription, too. A subscription that is paused for SPEND_LIMIT can be resumed by an admin of the organisation once the limit is raised or the month is over.",
        params: subscriptionParams,
        body: spendLimitBody,
        response: { 200: responseOf("The limit", "SpendLimitDto"), ...problemResponses(401, 403, 404, 409, 413, 415) },
      },
    },
    (request) => setSpendLimit(options, requestContextOf(request), request.params.id, request.body),
  );

  routes.delete(
    "/subscriptions/:id/spend-limit",
    {
      preValidation: requireNoBody,
      config: { access: ["org-admin", "operator"] },
      schema: {
        tags,
        operationId: "removeSpendLimit",
        summary: "Remove the limit of a subscription",
        description:
          "A plan with usage has the marketplace's default limit again, unless the month has cost more than that. Without a limit of your own, nothing changes.",
        params: subscriptionParams,
        response: {
          204: noContent,
          ...problemResponses(401, 403, 404, 409, 413, 415),
        },
      },
    },
    async (request, reply) => {
      await removeSpendLimit(options, requestContextOf(request), request.params.id);
      return reply.code(204).send();
    },
  );
}
