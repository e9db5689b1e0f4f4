import { orgAliasParams, putSecretAnswer, putSecretBody } from "@ehr-marketplace/contracts";
import { answerOf } from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { failureResponses, success } from "../answers.ts";
import { actorOf } from "../audit/record-audit.ts";
import { type KeepingSecrets, putSecret } from "./put-secret.ts";

const operators = ["operator"] as const;

export async function organisationRoutes(scope: FastifyInstance, options: KeepingSecrets): Promise<void> {
  scope.addSchema(putSecretAnswer);
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();

  routes.put(
    "/admin/organisations/:alias/secret",
    {
      config: { access: operators, waitsOnlyForDatabase: true },
      schema: {
        tags: ["Operations"],
        operationId: "putSecret",
        summary: "Set the secret of an organisation's webhooks",
        description:
          "The organisation is known from then on. The secret before still verifies for a while, so that both sides can change in turn. The same secret again changes nothing but, where `overlapSeconds` is given, the end of that while.",
        params: orgAliasParams,
        body: putSecretBody,
        response: {
          200: answerOf("The secret is in use", "PutSecretAnswer"),
          201: answerOf("The organisation is known, and its secret in use", "PutSecretAnswer"),
          ...failureResponses(401, 403, 413, 415),
        },
      },
    },
    async (request, reply) => {
      const { alias } = request.params;
      const { created, ...put } = await putSecret(options, actorOf(request, alias, operators), alias, request.body);
      const message = created ? "the organisation is known, and its secret in use" : "the secret is in use";
      return reply.code(created ? 201 : 200).send(success(message, put));
    },
  );
}
