import { orgAliasParams, putSecretBody, putSecretResponse } from "@ehr-marketplace/contracts";
import { responseOf } from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { actorOf } from "../audit/record-audit.ts";
import { failureResponses, success } from "../responses.ts";
import { putSecret, type SecretDeps } from "./put-secret.ts";

const operators = ["operator"] as const;

export async function organisationRoutes(scope: FastifyInstance, options: SecretDeps): Promise<void> {
  scope.addSchema(putSecretResponse);
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();

  routes.put(
    "/admin/organisations/:alias/secret",
    {
      config: { access: operators },
      schema: {
        tags: ["Operations"],
        operationId: "putSecret",
        summary: "Set the secret of an organisation's webhooks",
        description:
          "Creates the organisation if it is unknown. The previous secret stays valid during an overlap, so that both sides can change one after the other. Setting the same secret again changes nothing but, if `overlapSeconds` is given, the end of the overlap.",
        params: orgAliasParams,
        body: putSecretBody,
        response: {
          200: responseOf("The secret is in use", "PutSecretResponse"),
          201: responseOf("The organisation is created, and its secret is in use", "PutSecretResponse"),
          ...failureResponses(401, 403, 413, 415),
        },
      },
    },
    async (request, reply) => {
      const { alias } = request.params;
      const { created, ...put } = await putSecret(options, actorOf(request, alias, operators), alias, request.body);
      const message = created ? "The organisation is created, and its secret is in use." : "The secret is in use.";
      return reply.code(created ? 201 : 200).send(success(message, put));
    },
  );
}
