import {
  differenceDto,
  differenceParams,
  differenceResponse,
  differencesResponse,
  type ListDifferencesQuery,
  listDifferencesQuery,
} from "@ehr-marketplace/contracts";
import { requireNoBody, responseOf } from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { operatorOf } from "../audit/record-audit.ts";
import { failureResponses, success } from "../responses.ts";
import { applyDifference, type DecideDeps, keepStored } from "./decide-difference.ts";
import { listDifferences } from "./differences.ts";

const operators = { access: ["operator"] } as const;
const tags = ["Operations"];

export async function differenceRoutes(scope: FastifyInstance, options: DecideDeps): Promise<void> {
  for (const schema of [differenceDto, differenceResponse, differencesResponse]) scope.addSchema(schema);
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();

  routes.get(
    "/admin/differences",
    {
      config: operators,
      schema: {
        tags,
        operationId: "listDifferences",
        summary: "List what waits since the marketplace was restored",
        description:
          "After the marketplace's database was restored from a backup, or another server has taken over, its list may lack changes that this service has stored. Where the list would end a cancellation, or a pause for SECURITY, OPERATOR_HOLD or a reason that isn't known, an operator decides: apply the list, or keep what is stored. A newer event decides, too. The newest first.",
        querystring: listDifferencesQuery,
        response: { 200: responseOf("A page of differences", "DifferencesResponse"), ...failureResponses(401, 403) },
      },
    },
    async (request, reply) =>
      reply.send(
        success("These are the differences.", await listDifferences(options, request.query as ListDifferencesQuery)),
      ),
  );

  for (const [verb, operationId, summary, description, message, work] of [
    [
      "apply",
      "applyDifference",
      "Apply the marketplace's list",
      "The listed state replaces the stored one, and the app can be used again as the list says. Also for a difference that was kept.",
      "The list is applied.",
      applyDifference,
    ],
    [
      "keep",
      "keepDifference",
      "Keep the stored state",
      "The stored state stays, however often the list contradicts it, until the marketplace reports a newer change. Repeating it changes nothing.",
      "The stored state is kept.",
      keepStored,
    ],
  ] as const) {
    routes.post(
      `/admin/differences/:id/${verb}`,
      {
        preValidation: requireNoBody,
        config: operators,
        schema: {
          tags,
          operationId,
          summary,
          description: `${description} 404 also if it is settled: applied, or decided by a newer event.`,
          params: differenceParams,
          response: {
            200: responseOf("The difference as it was decided", "DifferenceResponse"),
            ...failureResponses(401, 403, 404, 413, 415),
          },
        },
      },
      async (request, reply) =>
        reply.send(success(message, await work(options, operatorOf(request), request.params.id))),
    );
  }
}
