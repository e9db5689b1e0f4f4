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
import { answerOf, problemResponses, takesNoBody } from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { actingIn, vendorHeaders } from "../../access/acting-for-vendor.ts";
import { keyReusedMeaning } from "../../idempotency/repeatable-request.ts";
import { redeliver, testEndpoint } from "./act-on-endpoint.ts";
import type { Managing } from "./change-endpoint.ts";
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

/** What became of what was due to an endpoint, and what is sent to it on demand. */
export async function deliveryRoutes(scope: FastifyInstance, options: Managing): Promise<void> {
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
        description: "One for each event, whatever became of it, the newest first.",
        headers: vendorHeaders,
        params: webhookParams,
        querystring: listDeliveriesQuery,
        response: { 200: answerOf("A page of deliveries", "WebhookDeliveryPage"), ...problemResponses(401, 403, 404) },
      },
    },
    (request) =>
      listDeliveries(options.database, actingIn(request), request.params.id, request.query as ListDeliveriesQuery),
  );

  routes.get(
    "/developer/webhooks/:id/deliveries/:deliveryId",
    {
      config,
      schema: {
        tags,
        operationId: "getDelivery",
        summary: "Get a delivery with its payload",
        description: "What became of it, and the body that its attempts send.",
        headers: vendorHeaders,
        params: webhookDeliveryParams,
        response: {
          200: answerOf("The delivery", "WebhookDeliveryDetailDto"),
          ...problemResponses(401, 403, 404),
        },
      },
    },
    (request) => {
      const { id: endpointId, deliveryId } = request.params;
      return getDelivery(options.database, actingIn(request), { endpointId, deliveryId });
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
          "The delivery log (WebhookDeliveryLog), the oldest attempt first, at most 100 on a page. It is kept for 90 days.",
        headers: vendorHeaders,
        params: webhookDeliveryParams,
        querystring: pageQuery,
        response: { 200: answerOf("A page of attempts", "WebhookDeliveryLogPage"), ...problemResponses(401, 403, 404) },
      },
    },
    (request) => {
      const { id: endpointId, deliveryId } = request.params;
      return listAttempts(options.database, actingIn(request), { endpointId, deliveryId }, request.query as PageQuery);
    },
  );

  routes.post(
    "/developer/webhooks/:id/deliveries/:deliveryId/redeliver",
    {
      preValidation: takesNoBody,
      config,
      schema: {
        tags,
        operationId: "redeliver",
        summary: "Send a delivery again",
        description:
          "Further attempts of the same delivery, under the same id, whether it was delivered or has failed.",
        headers: repeatHeaders,
        params: webhookDeliveryParams,
        response: {
          202: answerOf("It is on its way again", "AcceptedDelivery"),
          ...problemResponses(401, 403, 404, 409, 413, 415, { 422: keyReusedMeaning }),
        },
      },
    },
    async (request, reply) => {
      const by = actingIn(request);
      const { id: endpointId, deliveryId } = request.params;
      const accepted = await redeliver(options, by, { endpointId, deliveryId }, repeatable(request, by));
      return reply.code(202).send(accepted);
    },
  );

  routes.post(
    "/developer/webhooks/:id/test",
    {
      preValidation: takesNoBody,
      config,
      schema: {
        tags,
        headers: repeatHeaders,
        params: webhookParams,
        operationId: "testWebhook",
        summary: "Send a ping to an endpoint",
        description:
          "A delivery of the event `ping`, whether or not the endpoint names it in its events. At most 10 a minute for one endpoint.",
        response: {
          202: answerOf("The ping is on its way", "AcceptedDelivery"),
          ...problemResponses(401, 403, 404, 409, 413, 415, {
            422: keyReusedMeaning,
            429: "More than 10 tests of this endpoint a minute, or too many requests; try again after `Retry-After` seconds",
          }),
        },
      },
    },
    async (request, reply) => {
      const by = actingIn(request);
      return reply.code(202).send(await testEndpoint(options, by, request.params.id, repeatable(request, by)));
    },
  );
}
