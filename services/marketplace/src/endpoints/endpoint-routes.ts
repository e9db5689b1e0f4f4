import {
  type PageQuery,
  pageQuery,
  registeredWebhookDto,
  registerWebhookBody,
  updateWebhookBody,
  webhookEndpointDto,
  webhookEndpointPage,
  webhookParams,
} from "@ehr-marketplace/contracts";
import { problemResponses, requireNoBody, responseOf } from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { vendorContextOf, vendorHeaders } from "../access/vendor-context.ts";
import { pathOf } from "../idempotency/idempotent-request.ts";
import { actionRoutes } from "./action-routes.ts";
import { changeEndpoint, deleteEndpoint, type EndpointUrlDeps } from "./change-endpoint.ts";
import { deliveryRoutes } from "./delivery-routes.ts";
import { config, repeatable, repeatHeaders, tags } from "./endpoint-requests.ts";
import { getEndpoint, listEndpoints } from "./read-endpoints.ts";
import { registerEndpoint } from "./register-endpoint.ts";

// Typed as `object`: the route's type would otherwise require a body of that schema.
const noContent: object = { description: "The endpoint is deleted", type: "null" };

/** Two scopes, because Fastify compiles all schemas of a scope for each of its responses. */
export async function endpointRoutes(scope: FastifyInstance, options: EndpointUrlDeps): Promise<void> {
  await scope.register(managementRoutes, options);
  await scope.register(deliveryRoutes, options);
}

async function managementRoutes(scope: FastifyInstance, options: EndpointUrlDeps): Promise<void> {
  for (const schema of [registeredWebhookDto, webhookEndpointDto, webhookEndpointPage]) scope.addSchema(schema);
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();

  routes.post(
    "/developer/webhooks",
    {
      config,
      schema: {
        tags,
        operationId: "registerWebhook",
        summary: "Register an endpoint",
        description:
          "New events of the vendor's apps are posted to the endpoint. The secret is stored encrypted and never returned. A vendor can have 20 endpoints.",
        headers: repeatHeaders,
        body: registerWebhookBody,
        response: {
          201: {
            ...responseOf("The new endpoint", "RegisteredWebhookDto"),
            headers: { location: { type: "string", description: "The endpoint's URL" } },
          },
          ...problemResponses(401, 403, 409, 413, 415, {
            422: "`url` can't be used, the vendor is not registered, or the `Idempotency-Key` was used with another body",
          }),
        },
      },
    },
    async (request, reply) => {
      const by = vendorContextOf(request);
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
        description: "All endpoints of the vendor, oldest first.",
        headers: vendorHeaders,
        querystring: pageQuery,
        response: { 200: responseOf("A page of endpoints", "WebhookEndpointPage"), ...problemResponses(401, 403) },
      },
    },
    (request) => listEndpoints(options, vendorContextOf(request), request.query as PageQuery),
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
        description: "An endpoint of the vendor with its delivery status, without its secret.",
        response: { 200: responseOf("The endpoint", "WebhookEndpointDto"), ...problemResponses(401, 403, 404) },
      },
    },
    (request) => getEndpoint(options, vendorContextOf(request), request.params.id),
  );

  routes.patch(
    "/developer/webhooks/:id",
    {
      config,
      schema: {
        ...ofOne,
        operationId: "changeWebhook",
        summary: "Change an endpoint",
        description: "Changes the URL, the events, or both. Undelivered deliveries go to the new URL.",
        body: updateWebhookBody,
        response: {
          200: responseOf("The endpoint as it is now", "WebhookEndpointDto"),
          ...problemResponses(401, 403, 404, 413, 415, { 422: "`url` can't be used" }),
        },
      },
    },
    (request) => changeEndpoint(options, vendorContextOf(request), request.params.id, request.body),
  );

  routes.delete(
    "/developer/webhooks/:id",
    {
      preValidation: requireNoBody,
      config,
      schema: {
        ...ofOne,
        operationId: "deleteWebhook",
        summary: "Delete an endpoint",
        description: "Can't be undone. Undelivered deliveries are dropped.",
        response: {
          204: noContent,
          ...problemResponses(401, 403, 404, 413, 415),
        },
      },
    },
    async (request, reply) => {
      await deleteEndpoint(options, vendorContextOf(request), request.params.id);
      return reply.code(204).send();
    },
  );

  actionRoutes(scope, options);
}
