import { creditBody, creditDto, subscriptionParams } from "@ehr-marketplace/contracts";
import { problemResponses, responseOf } from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { requestContextOf } from "../access/request-context.ts";
import { idempotencyKeyHeader, idempotentRequestOf } from "../idempotency/idempotent-request.ts";
import { type CreditDeps, giveCredit } from "./give-credit.ts";

export async function creditRoutes(scope: FastifyInstance, options: CreditDeps): Promise<void> {
  scope.addSchema(creditDto);
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();
  routes.post(
    "/admin/subscriptions/:id/credits",
    {
      config: { access: ["operator", "billing"] },
      schema: {
        tags: ["Billing"],
        operationId: "giveCredit",
        summary: "Credit a subscription",
        description:
          "Ends a complaint about a charge: a line with a negative amount on the current month's (UTC) statements of the organisation and the vendor, which lowers the commission, too. Of the organisation's subscriptions to the app in this currency, all credits together are at most what was charged in this month so far and the three before it. Both are told. A credit can't be taken back. A subscription that is cancelled can be credited.",
        headers: { type: "object", properties: idempotencyKeyHeader, required: ["idempotency-key"] } as const,
        params: subscriptionParams,
        body: creditBody,
        response: {
          201: responseOf("The credit", "CreditDto"),
          ...problemResponses(401, 403, 404, 413, 415, {
            422: "More than can still be credited, which `detail` says; too many credits in this month; or the `Idempotency-Key` was used with another body",
          }),
        },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const credit = await giveCredit(
        options,
        requestContextOf(request),
        id,
        request.body,
        idempotentRequestOf(request),
      );
      return reply.code(201).send(credit);
    },
  );
}
