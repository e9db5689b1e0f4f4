import {
  changeWebhookBody,
  type PageQuery,
  pageQuery,
  registeredWebhookDto,
  registerWebhookBody,
  webhookEndpointDto,
  webhookEndpointPage,
  webhookParams,
} from "@ehr-marketplace/contracts";
import { answerOf, problemResponses, takesNoBody } from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { actingIn, vendorHeaders } from "../../access/acting-for-vendor.ts";
import { pathOf } from "../../idempotency/repeatable-request.ts";
import { actionRoutes } from "./action-routes.ts";
import { type Addressing, changeEndpoint, deleteEndpoint } from "./change-endpoint.ts";
import { deliveryRoutes } from "./delivery-routes.ts";
import { config, repeatable, repeatHeaders, tags } from "./endpoint-requests.ts";
import { getEndpoint, listEndpoints } from "./read-endpoints.ts";
import { registerEndpoint } from "./register-endpoint.ts";

// Typed as any answer: what the schema says would be taken for a body to send.
const gone: object = { description: "It is gone", type: "null" };

/** Two scopes, because the server compiles all shapes of a scope anew for each of its answers. */
export async function endpointRoutes(scope: FastifyInstance, options: Addressing): Promise<void> {
  await scope.register(managementRoutes, options);
  await scope.register(deliveryRoutes, options);
}

async function managementRoutes(scope: FastifyInstance, options: Addressing): Promise<void> {
  for (const schema of [registeredWebhookDto, webhookEndpointDto, webhookEndpointPage]) scope.addSchema(schema);
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();
  const resolving = { ...config, waitsOnlyForDatabase: false };

  routes.post(
    "/developer/webhooks",
    {
      config: resolving,
      schema: {
        tags,
        operationId: "registerWebhook",
        summary: "Register an endpoint",
        description:
          "Events of the vendor's apps are posted to it from now on. The secret is stored encrypted and never shown. A vendor may have 20 endpoints.",
        headers: repeatHeaders,
        body: registerWebhookBody,
        response: {
          201: {
            ...answerOf("The new endpoint", "RegisteredWebhookDto"),
            headers: { location: { type: "string", description: "Where the endpoint is found" } },
          },
          ...problemResponses(401, 403, 409, 413, 415, {
            422: "`url` can't be used, the vendor is not registered, or the `Idempotency-Key` came with another body before",
          }),
        },
      },
    },
    async (request, reply) => {
      const by = actingIn(request);
      const registered = await registerEndpoint(options, by, request.body, repeatable(request, by));
      return reply
        .code(201)
        .header("location", `${pathOf(request)}/${registered.id}`)
        .send(registered);
    },
  );

  routes.get(
    "/developer/webhooks",
    {
      config,
      schema: {
        tags,
        operationId: "listWebhooks",
        summary: "List the vendor's endpoints",
        description: "All endpoints of the vendor, the oldest first.",
        headers: vendorHeaders,
        querystring: pageQuery,
        response: { 200: answerOf("A page of endpoints", "WebhookEndpointPage"), ...problemResponses(401, 403) },
      },
    },
    (request) => listEndpoints(options, actingIn(request), request.query as PageQuery),
  );

  const ofOne = { tags, headers: vendorHeaders, params: webhookParams };

  routes.get(
    "/developer/webhooks/:id",
    {
      config,
      schema: {
        ...ofOne,
        operationId: "getWebhook",
        summary: "Get an endpoint",
        description: "One endpoint of the vendor and how it is getting on, without its secret.",
        response: { 200: answerOf("The endpoint", "WebhookEndpointDto"), ...problemResponses(401, 403, 404) },
      },
    },
    (request) => getEndpoint(options, actingIn(request), request.params.id),
  );

  routes.patch(
    "/developer/webhooks/:id",
    {
      config: resolving,
      schema: {
        ...ofOne,
        operationId: "changeWebhook",
        summary: "Change an endpoint",
        description: "Another URL, other events, or both. What is still due to it goes to the new URL.",
        body: changeWebhookBody,
        response: {
          200: answerOf("The endpoint as it is now", "WebhookEndpointDto"),
          ...problemResponses(401, 403, 404, 413, 415, { 422: "`url` can't be used" }),
        },
      },
    },
    (request) => changeEndpoint(options, actingIn(request), request.params.id, request.body),
  );

  routes.delete(
    "/developer/webhooks/:id",
    {
      preValidation: takesNoBody,
      config,
      schema: {
        ...ofOne,
        operationId: "deleteWebhook",
        summary: "Delete an endpoint",
        description: "Final. What is still due to it is never sent.",
        response: {
          204: gone,
          ...problemResponses(401, 403, 404, 413, 415),
        },
      },
    },
    async (request, reply) => {
      await deleteEndpoint(options, actingIn(request), request.params.id);
      return reply.code(204).send();
    },
  );

  actionRoutes(scope, options);
}
