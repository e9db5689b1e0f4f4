import {
  acceptedDelivery,
  type ListDeliveriesQuery,
  listDeliveriesQuery,
  type PageQuery,
  pageQuery,
  webhookDeliveryDetailDto,
  webhookDeliveryDto,
  webhookDeliveryLog,
  webhookDeliveryLogPage,
  webhookDeliveryPage,
  webhookDeliveryParams,
  webhookParams,
} from "@ehr-marketplace/contracts";
import { problemResponses, requireNoBody, responseOf } from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { vendorContextOf, vendorHeaders } from "../access/vendor-context.ts";
import { keyReusedDescription } from "../idempotency/idempotent-request.ts";
import type { EndpointDeps } from "./change-endpoint.ts";
import { requestRedelivery, testEndpoint } from "./endpoint-actions.ts";
import { config, repeatable, repeatHeaders, tags } from "./endpoint-requests.ts";
import { getDelivery, listAttempts, listDeliveries } from "./read-deliveries.ts";

const shapes = [
  acceptedDelivery,
  webhookDeliveryDetailDto,
  webhookDeliveryDto,
  webhookDeliveryLog,
  webhookDeliveryLogPage,
  webhookDeliveryPage,
];

/** Routes to read an endpoint's deliveries, to redeliver one, and to send a ping. */
export async function deliveryRoutes(scope: FastifyInstance, options: EndpointDeps): Promise<void> {
  for (const schema of shapes) scope.addSchema(schema);
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();

  routes.get(
    "/developer/webhooks/:id/deliveries",
    {
      config,
      schema: {
        tags,
        operationId: "listDeliveries",
        summary: "List an endpoint's deliveries",
        description: "One delivery per event, with any status, by the time of the event, newest first.",
        headers: vendorHeaders,
        params: webhookParams,
        querystring: listDeliveriesQuery,
        response: {
          200: responseOf("A page of deliveries", "WebhookDeliveryPage"),
          ...problemResponses(401, 403, 404),
        },
      },
    },
    (request) =>
      listDeliveries(
        options.database,
        vendorContextOf(request),
        request.params.id,
        request.query as ListDeliveriesQuery,
      ),
  );

  routes.get(
    "/developer/webhooks/:id/deliveries/:deliveryId",
    {
      config,
      schema: {
        tags,
        operationId: "getDelivery",
        summary: "Get a delivery with its payload",
        description: "The delivery's status and the body that its attempts send.",
        headers: vendorHeaders,
        params: webhookDeliveryParams,
        response: {
          200: responseOf("The delivery", "WebhookDeliveryDetailDto"),
          ...problemResponses(401, 403, 404),
        },
      },
    },
    (request) => {
      const { id: endpointId, deliveryId } = request.params;
      return getDelivery(options.database, vendorContextOf(request), { endpointId, deliveryId });
    },
  );

  routes.get(
    "/developer/webhooks/:id/deliveries/:deliveryId/attempts",
    {
      config,
      schema: {
        tags,
        operationId: "listAttempts",
        summary: "List a delivery's attempts",
        description:
          "The delivery log (WebhookDeliveryLog), oldest attempt first, at most 100 per page. Attempts are kept for 90 days.",
        headers: vendorHeaders,
        params: webhookDeliveryParams,
        querystring: pageQuery,
        response: {
          200: responseOf("A page of attempts", "WebhookDeliveryLogPage"),
          ...problemResponses(401, 403, 404),
        },
      },
    },
    (request) => {
      const { id: endpointId, deliveryId } = request.params;
      return listAttempts(
        options.database,
        vendorContextOf(request),
        { endpointId, deliveryId },
        request.query as PageQuery,
      );
    },
  );

  routes.post(
    "/developer/webhooks/:id/deliveries/:deliveryId/redeliver",
    {
      preValidation: requireNoBody,
      config,
      schema: {
        tags,
        operationId: "redeliver",
        summary: "Redeliver a delivery",
        description:
          "Makes further attempts of the same delivery, under the same id, whether it was delivered or has failed. Failures are counted from zero again.",
        headers: repeatHeaders,
        params: webhookDeliveryParams,
        response: {
          202: responseOf("The redelivery is queued", "AcceptedDelivery"),
          ...problemResponses(401, 403, 404, 409, 413, 415, { 422: keyReusedDescription }),
        },
      },
    },
    async (request, reply) => {
      const by = vendorContextOf(request);
      const { id: endpointId, deliveryId } = request.params;
      const accepted = await requestRedelivery(options, by, { endpointId, deliveryId }, repeatable(request, by));
      return reply.code(202).send(accepted);
    },
  );

  routes.post(
    "/developer/webhooks/:id/test",
    {
      preValidation: requireNoBody,
      config,
      schema: {
        tags,
        headers: repeatHeaders,
        params: webhookParams,
        operationId: "testWebhook",
        summary: "Send a ping to an endpoint",
        description:
          "Sends the event `ping`, also when it is not in the endpoint's `events`. At most 10 per minute and endpoint. While the endpoint is held or disabled, the ping waits.",
        response: {
          202: responseOf("The ping is queued", "AcceptedDelivery"),
          ...problemResponses(401, 403, 404, 409, 413, 415, {
            422: keyReusedDescription,
            429: "More than 10 tests of this endpoint per minute, or too many requests; retry after `Retry-After` seconds",
          }),
        },
      },
    },
    async (request, reply) => {
      const by = vendorContextOf(request);
      return reply.code(202).send(await testEndpoint(options, by, request.params.id, repeatable(request, by)));
    },
  );
}
