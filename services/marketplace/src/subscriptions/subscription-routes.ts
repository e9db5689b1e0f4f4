import {
  createSubscriptionBody,
  eventApp,
  listedSubscriptionDto,
  listSubscriptionsQuery,
  pauseSubscriptionBody,
  subscriptionDto,
  subscriptionParams,
  withoutNul,
} from "@ehr-marketplace/contracts";
import { answerOf, callerOf, problemResponses, takesNoBody } from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { askedBy } from "../access/asked-by.ts";
import { idempotencyKey, keyReusedMeaning, pathOf, repeatableRequest } from "../idempotency/repeatable-request.ts";
import { changeSubscription } from "./change-subscription.ts";
import { createSubscription, type Subscribing } from "./create-subscription.ts";
import { getSubscription, listSubscriptions } from "./read-subscriptions.ts";
import type { Command } from "./subscription.ts";
import { subscriptionListRoutes } from "./subscription-list-routes.ts";

const record = (description: string): object => answerOf(description, "SubscriptionDto");

const repeatHeaders = { type: "object", properties: idempotencyKey } as const;

const vendorHeader = {
  type: "object",
  properties: {
    "x-vendor-slug": {
      type: "string",
      pattern: withoutNul,
      maxLength: 64,
      description: "For developers of several vendors: the one they act for",
    },
  },
} as const;

export async function subscriptionRoutes(scope: FastifyInstance, options: Subscribing): Promise<void> {
  for (const schema of [eventApp, listedSubscriptionDto, subscriptionDto]) scope.addSchema(schema);
  subscriptionListRoutes(scope, options);
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();
  const tags = ["Subscriptions"];

  routes.post(
    "/subscriptions",
    {
      config: { access: ["org-admin", "operator"], waitsOnlyForDatabase: true },
      schema: {
        tags,
        operationId: "createSubscription",
        summary: "Subscribe an organisation to an app",
        description:
          "One live subscription per organisation and app. The plan taken stays, whatever the app costs later.",
        headers: repeatHeaders,
        body: createSubscriptionBody,
        response: {
          201: {
            ...record("The new subscription"),
            headers: { location: { type: "string", description: "Where the subscription is found" } },
          },
          ...problemResponses(401, 403, 409, 413, 415, {
            422: "`appSlug`, `pricingPlanId` or `orgAlias` can't be used, the plan counts no `quantity`, or the `Idempotency-Key` came with another body before",
            429: "The organisation has subscribed to this app 30 times within an hour, or too many requests; try again after `Retry-After` seconds",
          }),
        },
      },
    },
    async (request, reply) => {
      const created = await createSubscription(options, askedBy(request), request.body, repeatableRequest(request));
      return reply
        .code(201)
        .header("location", `${pathOf(request)}/${created.id}`)
        .send(created);
    },
  );

  routes.get(
    "/subscriptions",
    {
      config: { access: ["org-member", "org-admin", "ehr-service", "operator"], waitsOnlyForDatabase: true },
      schema: {
        tags,
        operationId: "listSubscriptions",
        summary: "List an organisation's subscriptions",
        description:
          "The newest first. Where more are left, `Link` leads to them. An EHR reconciles from this list with `expand=app`, " +
          "which also describes apps that are not published any more.",
        querystring: listSubscriptionsQuery,
        response: {
          200: {
            description: "Subscriptions, the newest first",
            headers: { link: { type: "string", description: '`rel="next"`, where more are left' } },
            content: { "application/json": { schema: { type: "array", items: { $ref: "ListedSubscriptionDto#" } } } },
          },
          ...problemResponses(401, 403),
        },
      },
    },
    async (request, reply) => {
      const { items, next } = await listSubscriptions(options.database, callerOf(request), request.query);
      if (next !== undefined) {
        const query = new URLSearchParams(request.url.slice(request.url.indexOf("?")));
        query.set("after", next);
        reply.header("link", `<${pathOf(request)}?${query.toString()}>; rel="next"`);
      }
      return reply.send(items);
    },
  );

  routes.get(
    "/subscriptions/:id",
    {
      config: {
        access: ["org-member", "org-admin", "ehr-service", "vendor-developer", "operator"],
        waitsOnlyForDatabase: true,
      },
      schema: {
        tags,
        operationId: "getSubscription",
        summary: "Get a subscription",
        description:
          "One subscription of your organisation, or, for a vendor's developers, to one of the vendor's apps.",
        headers: vendorHeader,
        params: subscriptionParams,
        response: { 200: record("The subscription"), ...problemResponses(401, 403, 404) },
      },
    },
    (request) =>
      getSubscription(options.database, callerOf(request), request.params.id, request.headers["x-vendor-slug"]),
  );

  const change = (request: FastifyRequest<{ Params: { id: string } }>, command: Command) =>
    changeSubscription(options, askedBy(request), request.params.id, command, repeatableRequest(request));
  const changed = {
    200: record("The subscription as it is now"),
    ...problemResponses(401, 403, 404, 409, 413, 415, {
      422: keyReusedMeaning,
      429: "The subscription has changed 30 times within an hour, or too many requests; try again after `Retry-After` seconds",
    }),
  };
  const changeSchema = { tags, headers: repeatHeaders, params: subscriptionParams, response: changed };

  routes.post(
    "/subscriptions/:id/cancel",
    {
      preValidation: takesNoBody,
      config: { access: ["org-admin", "operator"], waitsOnlyForDatabase: true },
      schema: {
        ...changeSchema,
        operationId: "cancelSubscription",
        summary: "Cancel a subscription",
        description: "Final. On a cancelled one it changes nothing and answers the same.",
      },
    },
    (request) => change(request, { do: "cancel" }),
  );

  routes.post(
    "/subscriptions/:id/pause",
    {
      config: { access: ["org-admin", "billing", "operator"], waitsOnlyForDatabase: true },
      schema: {
        ...changeSchema,
        operationId: "pauseSubscription",
        summary: "Pause a subscription",
        description:
          "The app can't be launched until the reason is lifted. Pausing again for the same reason changes nothing.",
        body: pauseSubscriptionBody,
      },
    },
    (request) => change(request, { do: "pause", reason: request.body.reason }),
  );

  routes.post(
    "/subscriptions/:id/resume",
    {
      preValidation: takesNoBody,
      config: { access: ["org-admin", "billing", "operator"], waitsOnlyForDatabase: true },
      schema: {
        ...changeSchema,
        operationId: "resumeSubscription",
        summary: "Resume a subscription",
        description:
          "Lifts the reason of the pause; whoever may set it may lift it. On an active one it changes nothing.",
      },
    },
    (request) => change(request, { do: "resume" }),
  );

  routes.post(
    "/subscriptions/:id/lift-block",
    {
      preValidation: takesNoBody,
      config: { access: ["billing", "operator"], waitsOnlyForDatabase: true },
      schema: {
        ...changeSchema,
        response: { ...changed, ...problemResponses(429) },
        operationId: "liftBlock",
        summary: "Let an organisation subscribe again",
        description:
          "A subscription that was cancelled while billing or the marketplace had paused it keeps its organisation from subscribing to the app again. This lifts it.",
      },
    },
    (request) => change(request, { do: "lift-block" }),
  );
}
