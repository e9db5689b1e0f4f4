import {
  importBody,
  importResult,
  maxImportBytes,
  orgAliasParams,
  putSecretBody,
  putSecretResponse,
} from "@ehr-marketplace/contracts";
import {
  acceptNdjson,
  importLines,
  importResponse,
  ndjsonMediaType,
  responseOf,
} from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { actorOf, operatorOf } from "../audit/record-audit.ts";
import { failureResponses, success } from "../responses.ts";
import { createSecretImport } from "./import-secrets.ts";
import { putSecret, type SecretDeps } from "./put-secret.ts";

const operators = ["operator"] as const;

export async function organisationRoutes(scope: FastifyInstance, options: SecretDeps): Promise<void> {
  for (const schema of [putSecretResponse, importResult]) scope.addSchema(schema);
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

  await scope.register(importRoute, options);
}

async function importRoute(scope: FastifyInstance, options: SecretDeps): Promise<void> {
  acceptNdjson(scope);
  scope.withTypeProvider<TypeBoxTypeProvider>().post(
    "/admin/organisations/import",
    {
      bodyLimit: maxImportBytes,
      config: { access: operators, acceptedMediaTypes: ndjsonMediaType },
      schema: {
        tags: ["Operations"],
        operationId: "importSecrets",
        summary: "Set the secrets of up to 1,000 organisations",
        description:
          "Does for each line what `PUT /admin/organisations/{alias}/secret` does, in one transaction. A line that is refused doesn't stop the others, and a line that changes nothing is `unchanged`, so the same request can be sent again. A line whose `alias` an earlier line has is refused.",
        consumes: [ndjsonMediaType],
        body: importBody("`alias` and the fields of `PUT /admin/organisations/{alias}/secret`"),
        response: { 200: importResponse, ...failureResponses(401, 403, 413, 415) },
      },
    },
    async (request, reply) => {
      const results = await importLines(createSecretImport(options, operatorOf(request)), request.body);
      return reply.type(ndjsonMediaType).send(results);
    },
  );
}
