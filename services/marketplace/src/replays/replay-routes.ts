import {
  type PageQuery,
  pageQuery,
  replayDto,
  replayPage,
  replayParams,
  startReplayBody,
  webhookParams,
} from "@ehr-marketplace/contracts";
import { problemResponses, requireNoBody, responseOf } from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { vendorContextOf, vendorHeaders } from "../access/vendor-context.ts";
import type { EndpointDeps } from "../endpoints/change-endpoint.ts";
import { config, repeatable, repeatHeaders, tags } from "../endpoints/endpoint-requests.ts";
import { keyReusedDescription, pathOf } from "../idempotency/idempotent-request.ts";
import { cancelReplay, getReplay, listReplays, startReplay } from "./manage-replays.ts";

export async function replayRoutes(scope: FastifyInstance, options: EndpointDeps): Promise<void> {
  for (const schema of [replayDto, replayPage]) scope.addSchema(schema);
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();

  routes.post(
    "/developer/webhooks/:id/replays",
    {
      config,
      schema: {
        tags,
        operationId: "startReplay",
        summary: "Replay an endpoint's deliveries",
        description:
          "Sends the events of a time range, or only failed deliveries, once more: as further attempts of the same deliveries, under the same ids, in order within each subscription, and at a limited rate so that new events are not delayed. Events without a delivery to the endpoint, also from before it existed, are sent if the endpoint selects them now. Deliveries that are not settled stay as they are. An endpoint has one replay at a time.",
        headers: repeatHeaders,
        params: webhookParams,
        body: startReplayBody,
        response: {
          202: {
            ...responseOf("The started replay", "ReplayDto"),
            headers: { location: { type: "string", description: "The replay's URL, which shows its progress" } },
          },
          ...problemResponses(401, 403, 404, 409, 413, 415, { 422: keyReusedDescription }),
        },
      },
    },
    async (request, reply) => {
      const by = vendorContextOf(request);
      const replay = await startReplay(options, by, request.params.id, request.body, repeatable(request, by));
      return reply
        .code(202)
        .header("location", `${pathOf(request)}/${replay.id}`)
        .send(replay);
    },
  );

  routes.get(
    "/developer/webhooks/:id/replays",
    {
      config,
      schema: {
        tags,
        operationId: "listReplays",
        summary: "List an endpoint's replays",
        description: "Running, done and cancelled replays, newest first.",
        headers: vendorHeaders,
        params: webhookParams,
        querystring: pageQuery,
        response: { 200: responseOf("A page of replays", "ReplayPage"), ...problemResponses(401, 403, 404) },
      },
    },
    (request) => listReplays(options.database, vendorContextOf(request), request.params.id, request.query as PageQuery),
  );

  const ofOne = { tags, headers: vendorHeaders, params: replayParams };

  routes.get(
    "/developer/webhooks/:id/replays/:replayId",
    {
      config,
      schema: {
        ...ofOne,
        operationId: "getReplay",
        summary: "Get a replay",
        description: "The replay with its progress.",
        response: { 200: responseOf("The replay", "ReplayDto"), ...problemResponses(401, 403, 404) },
      },
    },
    (request) => {
      const { id: endpointId, replayId } = request.params;
      return getReplay(options.database, vendorContextOf(request), { endpointId, replayId });
    },
  );

  routes.delete(
    "/developer/webhooks/:id/replays/:replayId",
    {
      preValidation: requireNoBody,
      config,
      schema: {
        ...ofOne,
        operationId: "cancelReplay",
        summary: "Cancel a replay",
        description:
          "Stops the replay; deliveries that it has queued are sent. Has no effect on a replay that has ended.",
        response: {
          200: responseOf("The replay as it is now", "ReplayDto"),
          ...problemResponses(401, 403, 404, 413, 415),
        },
      },
    },
    (request) => {
      const { id: endpointId, replayId } = request.params;
      return cancelReplay(options, vendorContextOf(request), { endpointId, replayId });
    },
  );
}
