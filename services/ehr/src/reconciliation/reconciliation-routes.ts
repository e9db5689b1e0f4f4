import { orgAliasParams, reconciliationResponse } from "@ehr-marketplace/contracts";
import { requireNoBody, responseOf } from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { actorOf } from "../audit/record-audit.ts";
import { failureResponses, success } from "../responses.ts";
import { type OnDemandDeps, reconcileOnDemand } from "./reconcile-on-demand.ts";

const operators = ["operator"] as const;

export async function reconciliationRoutes(scope: FastifyInstance, options: OnDemandDeps): Promise<void> {
  scope.addSchema(reconciliationResponse);
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();

  routes.post(
    "/admin/organisations/:alias/reconcile",
    {
      preValidation: requireNoBody,
      config: { access: operators },
      schema: {
        tags: ["Operations"],
        operationId: "reconcile",
        summary: "Reconcile an organisation with the marketplace",
        description:
          "Requests the organisation's subscriptions from the marketplace, and applies those that are newer than the stored ones. Where the list contradicts a state that was stored before the request, the list wins, whatever time the stored event claimed: `corrected` counts these. A scheduled job does this every night.",
        params: orgAliasParams,
        response: {
          200: responseOf("The organisation is reconciled", "ReconciliationResponse"),
          ...failureResponses(401, 403, 404, 409, 413, 415, {
            503: "The marketplace can't be reached, the service is overloaded, or a dependency is unavailable; retry after `Retry-After` seconds",
          }),
        },
      },
    },
    async (request, reply) => {
      const { alias } = request.params;
      const reconciled = await reconcileOnDemand(options, actorOf(request, alias, operators), alias);
      return reply.send(success("The organisation is reconciled.", reconciled));
    },
  );
}
