import { orgAliasParams, reconciliationAnswer } from "@ehr-marketplace/contracts";
import { answerOf, takesNoBody } from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { failureResponses, success } from "../answers.ts";
import { actorOf } from "../audit/record-audit.ts";
import { type OnDemand, reconcileOnDemand } from "./reconcile-on-demand.ts";

const operators = ["operator"] as const;

export async function reconciliationRoutes(scope: FastifyInstance, options: OnDemand): Promise<void> {
  scope.addSchema(reconciliationAnswer);
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();

  routes.post(
    "/admin/organisations/:alias/reconcile",
    {
      preValidation: takesNoBody,
      config: { access: operators },
      schema: {
        tags: ["Operations"],
        operationId: "reconcile",
        summary: "Hold an organisation against the marketplace",
        description:
          "Asks the marketplace for the organisation's subscriptions, and takes over what is newer than what is known here. Where the list contradicts what was stored before it was requested, the list wins, whatever time the stored event claimed: `corrected` counts these. This happens every night as well.",
        params: orgAliasParams,
        response: {
          200: answerOf("What is known here is what the marketplace has", "ReconciliationAnswer"),
          ...failureResponses(401, 403, 404, 409, 413, 415, {
            503: "The marketplace can't be reached, the service is overloaded, or something that it needs is unavailable; try again after `Retry-After` seconds",
          }),
        },
      },
    },
    async (request, reply) => {
      const { alias } = request.params;
      const reconciled = await reconcileOnDemand(options, actorOf(request, alias, operators), alias);
      return reply.send(success("reconciled", reconciled));
    },
  );
}
