import { rotateSecretBody, webhookParams } from "@ehr-marketplace/contracts";
import { problemResponses, requireNoBody, responseOf } from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { vendorContextOf } from "../access/vendor-context.ts";
import { keyReusedDescription } from "../idempotency/idempotent-request.ts";
import type { EndpointDeps } from "./change-endpoint.ts";
import { enableEndpoint } from "./endpoint-actions.ts";
import { config, repeatable, repeatHeaders, tags } from "./endpoint-requests.ts";
import { promoteSecret, rotateSecret } from "./rotate-secret.ts";

/** Actions on an endpoint: rotate and promote its secret, enable it. */
export function actionRoutes(scope: FastifyInstance, options: EndpointDeps): void {
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();
  const change = {
    tags,
    headers: repeatHeaders,
    params: webhookParams,
    response: {
      200: responseOf("The endpoint as it is now", "WebhookEndpointDto"),
      ...problemResponses(401, 403, 404, 413, 415, { 422: keyReusedDescription }),
    },
  };

  routes.post(
    "/developer/webhooks/:id/rotate-secret",
    {
      config,
      schema: {
        ...change,
        operationId: "rotateSecret",
        summary: "Rotate an endpoint's secret",
        description:
          "Adds a next secret. `X-Marketplace-Signature` uses the current secret until the next one is promoted, at the latest after 24 hours; `webhook-signature` has a signature for both. A next secret that is not promoted yet is replaced. The current secret is refused.",
        body: rotateSecretBody,
      },
    },
    (request) => {
      const by = vendorContextOf(request);
      return rotateSecret(options, by, request.params.id, request.body.secret, repeatable(request, by));
    },
  );

  const actions = [
    {
      act: promoteSecret,
      name: "promote-secret",
      operationId: "promoteSecret",
      summary: "Promote the next secret",
      description: "The next secret becomes the current one at once. Nothing is signed with the old secret any more.",
      response: { ...change.response, ...problemResponses(409, { 422: keyReusedDescription }) },
    },
    {
      act: enableEndpoint,
      name: "enable",
      operationId: "enableWebhook",
      summary: "Enable an endpoint",
      description:
        "Reactivates a held or disabled endpoint and sends its waiting deliveries. Has no effect on an active endpoint.",
    },
  ];
  for (const { act: run, name, ...documentation } of actions) {
    routes.post(
      `/developer/webhooks/:id/${name}`,
      { preValidation: requireNoBody, config, schema: { ...change, ...documentation } },
      (request) => {
        const by = vendorContextOf(request);
        return run(options, by, request.params.id, repeatable(request, by));
      },
    );
  }
}
