import { rotateSecretBody, webhookParams } from "@ehr-marketplace/contracts";
import { answerOf, problemResponses, takesNoBody } from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { actingIn } from "../../access/acting-for-vendor.ts";
import { keyReusedMeaning } from "../../idempotency/repeatable-request.ts";
import { enableEndpoint } from "./act-on-endpoint.ts";
import type { Managing } from "./change-endpoint.ts";
import { config, repeatable, repeatHeaders, tags } from "./endpoint-requests.ts";
import { promoteSecret, rotateSecret } from "./rotate-secret.ts";

/** What can be done with an endpoint besides changing it. */
export function actionRoutes(scope: FastifyInstance, options: Managing): void {
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();
  const change = {
    tags,
    headers: repeatHeaders,
    params: webhookParams,
    response: {
      200: answerOf("The endpoint as it is now", "WebhookEndpointDto"),
      ...problemResponses(401, 403, 404, 413, 415, { 422: keyReusedMeaning }),
    },
  };

  routes.post(
    "/developer/webhooks/:id/rotate-secret",
    {
      config,
      schema: {
        ...change,
        operationId: "rotateSecret",
        summary: "Give an endpoint its next secret",
        description:
          "`X-Marketplace-Signature` keeps the old one until the next is promoted, at the latest after 24 hours; `webhook-signature` has both at once. It replaces a next secret that is still waiting.",
        body: rotateSecretBody,
      },
    },
    (request) => {
      const by = actingIn(request);
      return rotateSecret(options, by, request.params.id, request.body.secret, repeatable(request, by));
    },
  );

  const acts = [
    {
      act: promoteSecret,
      name: "promote-secret",
      operationId: "promoteSecret",
      summary: "Let the next secret take over",
      description: "From now on nothing is signed with the old one.",
      response: { ...change.response, ...problemResponses(409, { 422: keyReusedMeaning }) },
    },
    {
      act: enableEndpoint,
      name: "enable",
      operationId: "enableWebhook",
      summary: "Enable an endpoint",
      description: "What has waited for it begins to flow. On an active one it changes nothing.",
    },
  ];
  for (const { act, name, ...words } of acts) {
    routes.post(
      `/developer/webhooks/:id/${name}`,
      { preValidation: takesNoBody, config, schema: { ...change, ...words } },
      (request) => {
        const by = actingIn(request);
        return act(options, by, request.params.id, repeatable(request, by));
      },
    );
  }
}
