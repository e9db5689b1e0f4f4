import {
  type PageQuery,
  pageQuery,
  replayDto,
  replayPage,
  replayParams,
  startReplayBody,
  webhookParams,
} from "@ehr-marketplace/contracts";
import { answerOf, problemResponses, takesNoBody } from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { actingIn, vendorHeaders } from "../../access/acting-for-vendor.ts";
import { keyReusedMeaning, pathOf } from "../../idempotency/repeatable-request.ts";
import type { Managing } from "../endpoints/change-endpoint.ts";
import { config, repeatable, repeatHeaders, tags } from "../endpoints/endpoint-requests.ts";
import { cancelReplay, getReplay, listReplays, startReplay } from "./manage-replays.ts";

export async function replayRoutes(scope: FastifyInstance, options: Managing): Promise<void> {
  for (const schema of [replayDto, replayPage]) scope.addSchema(schema);
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();

  routes.post(
    "/developer/webhooks/:id/replays",
    {
      config,
      schema: {
        tags,
        operationId: "startReplay",
        summary: "Send an endpoint's deliveries again",
        description:
          "What happened in a span of time, or only what failed, goes out again: further attempts of the same deliveries, under the same ids, in order within each subscription and slowly enough to leave new events their way. Of events that the endpoint was never told, also from before it existed, it gets those that it selects now. What is still under way is left as it is. An endpoint has one replay at a time.",
        headers: repeatHeaders,
        params: webhookParams,
        body: startReplayBody,
        response: {
          202: {
            ...answerOf("The replay, which has begun", "ReplayDto"),
            headers: { location: { type: "string", description: "Where its progress is found" } },
          },
          ...problemResponses(401, 403, 404, 409, 413, 415, { 422: keyReusedMeaning }),
        },
      },
    },
    async (request, reply) => {
      const by = actingIn(request);
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
        description: "Running ones and those that are over.",
        headers: vendorHeaders,
        params: webhookParams,
        querystring: pageQuery,
        response: { 200: answerOf("A page of replays", "ReplayPage"), ...problemResponses(401, 403, 404) },
      },
    },
    (request) => listReplays(options.database, actingIn(request), request.params.id, request.query as PageQuery),
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
        description: "How far it has come.",
        response: { 200: answerOf("The replay", "ReplayDto"), ...problemResponses(401, 403, 404) },
      },
    },
    (request) => {
      const { id: endpointId, replayId } = request.params;
      return getReplay(options.database, actingIn(request), { endpointId, replayId });
    },
  );

  routes.delete(
    "/developer/webhooks/:id/replays/:replayId",
    {
      preValidation: takesNoBody,
      config,
      schema: {
        ...ofOne,
        operationId: "cancelReplay",
        summary: "Cancel a replay",
        description: "It goes no further; what it has queued is sent. On one that is over it changes nothing.",
        response: {
          200: answerOf("The replay as it is now", "ReplayDto"),
          ...problemResponses(401, 403, 404, 413, 415),
        },
      },
    },
    (request) => {
      const { id: endpointId, replayId } = request.params;
      return cancelReplay(options, actingIn(request), { endpointId, replayId });
    },
  );
}
