import {
  changeTermsBody,
  consentBody,
  createSubscriptionBody,
  epochHeader,
  epochHeaderSchema,
  eventApp,
  formatEpoch,
  listedSubscriptionDto,
  listSubscriptionsQuery,
  pauseSubscriptionBody,
  pricingPlanDto,
  subscriptionDto,
  subscriptionParams,
} from "@ehr-marketplace/contracts";
import { getCaller, problemResponses, requireNoBody, responseOf } from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { requestContextOf } from "../access/request-context.ts";
import { developerHeaders } from "../access/vendor-context.ts";
import {
  idempotencyKeyHeader,
  idempotentRequestOf,
  keyReusedDescription,
  pathOf,
} from "../idempotency/idempotent-request.ts";
import { agreeToScopes } from "./agree-to-scopes.ts";
import { changeSubscription } from "./change-subscription.ts";
import { changeTerms } from "./change-terms.ts";
import { createSubscription } from "./create-subscription.ts";
import { getSubscription, listSubscriptions } from "./read-subscriptions.ts";
import type { Command } from "./subscription.ts";
import type { SubscriptionDeps } from "./subscription-deps.ts";
import { subscriptionListRoutes } from "./subscription-list-routes.ts";

const record = (description: string): object => responseOf(description, "SubscriptionDto");

const repeatHeaders = { type: "object", properties: idempotencyKeyHeader } as const;

export async function subscriptionRoutes(scope: FastifyInstance, options: SubscriptionDeps): Promise<void> {
  for (const schema of [eventApp, listedSubscriptionDto, pricingPlanDto, subscriptionDto]) scope.addSchema(schema);
  subscriptionListRoutes(scope, options);
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();
  const tags = ["Subscriptions"];

  routes.post(
    "/subscriptions",
    {
      config: { access: ["org-admin", "operator"] },
      schema: {
        tags,
        operationId: "createSubscription",
        summary: "Subscribe an organisation to an app",
        description:
          "One live subscription per organisation and app. The subscription keeps its plan when the app's prices change, and the app keeps the scopes that were agreed to: the app's current ones. To be sure that these are the ones that were shown, send them as `fhirScopes`: 409 `scopes-changed` if the app has others. If the app has `baaRequired`, send `acceptBaa`: 422 `baa-required` otherwise.",
        headers: repeatHeaders,
        body: createSubscriptionBody,
        response: {
          201: {
            ...record("The new subscription"),
            headers: { location: { type: "string", description: "URL of the subscription" } },
          },
          ...problemResponses(401, 403, 409, 413, 415, {
            422: "`appSlug`, `pricingPlanId` or `orgAlias` can't be used, the plan has no `quantity`, the business associate agreement is not accepted, or the `Idempotency-Key` was used with another body",
            429: "The organisation has subscribed to this app 30 times within an hour, or too many requests; try again after `Retry-After` seconds",
          }),
        },
      },
    },
    async (request, reply) => {
      const created = await createSubscription(
        options,
        requestContextOf(request),
        request.body,
        idempotentRequestOf(request),
      );
      return reply
        .code(201)
        .header("location", `${pathOf(request)}/${created.id}`)
        .send(created);
    },
  );

  routes.get(
    "/subscriptions",
    {
      config: { access: ["org-member", "org-admin", "ehr-service", "operator"] },
      schema: {
        tags,
        operationId: "listSubscriptions",
        summary: "List an organisation's subscriptions",
        description:
          "Newest first. `Link` has the next page, if there is one. EHRs reconcile from this list with `expand=app`, " +
          "which also describes apps that are no longer published.",
        querystring: listSubscriptionsQuery,
        response: {
          200: {
            description: "Subscriptions, the newest first",
            headers: {
              link: { type: "string", description: '`rel="next"`, if there is another page' },
              [epochHeader]: epochHeaderSchema,
            },
            content: { "application/json": { schema: { type: "array", items: { $ref: "ListedSubscriptionDto#" } } } },
          },
          ...problemResponses(401, 403),
        },
      },
    },
    async (request, reply) => {
      const { items, next, epoch } = await listSubscriptions(options.database, getCaller(request), request.query);
      if (epoch !== undefined) reply.header(epochHeader, formatEpoch(epoch));
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
        access: ["org-member", "org-admin", "ehr-service", "vendor-developer", "billing", "auditor", "operator"],
      },
      schema: {
        tags,
        operationId: "getSubscription",
        summary: "Get a subscription",
        description:
          "One subscription of your organisation; for a vendor's developers, to one of the vendor's apps; for operators, billing and auditors, any.",
        headers: developerHeaders,
        params: subscriptionParams,
        response: { 200: record("The subscription"), ...problemResponses(401, 403, 404) },
      },
    },
    (request) =>
      getSubscription(options.database, getCaller(request), request.params.id, request.headers["x-vendor-slug"]),
  );

  const change = (request: FastifyRequest<{ Params: { id: string } }>, command: Command) =>
    changeSubscription(options, requestContextOf(request), request.params.id, command, idempotentRequestOf(request));
  const changed = {
    200: record("The subscription as it is now"),
    ...problemResponses(401, 403, 404, 409, 413, 415, {
      422: keyReusedDescription,
      429: "The subscription has changed 30 times within an hour, or too many requests; try again after `Retry-After` seconds",
    }),
  };
  const changeSchema = { tags, headers: repeatHeaders, params: subscriptionParams, response: changed };

  routes.post(
    "/subscriptions/:id/cancel",
    {
      preValidation: requireNoBody,
      config: { access: ["org-admin", "operator"] },
      schema: {
        ...changeSchema,
        operationId: "cancelSubscription",
        summary: "Cancel a subscription",
        description: "Cancelling is final. Cancelling a cancelled subscription changes nothing and returns it.",
      },
    },
    (request) => change(request, { do: "cancel" }),
  );

  routes.post(
    "/subscriptions/:id/pause",
    {
      config: { access: ["org-admin", "billing", "operator"] },
      schema: {
        ...changeSchema,
        operationId: "pauseSubscription",
        summary: "Pause a subscription",
        description:
          "The app can't be launched until the subscription is resumed. Pausing again for the same reason changes nothing.",
        body: pauseSubscriptionBody,
      },
    },
    (request) => change(request, { do: "pause", reason: request.body.reason }),
  );

  routes.post(
    "/subscriptions/:id/resume",
    {
      preValidation: requireNoBody,
      config: { access: ["org-admin", "billing", "operator"] },
      schema: {
        ...changeSchema,
        operationId: "resumeSubscription",
        summary: "Resume a subscription",
        description:
          "Ends the pause. Requires a role that may end a pause for its reason: see the guide. 409 `spend-limit-reached` while a subscription that is paused for SPEND_LIMIT costs at least its limit. Resuming an active subscription changes nothing. 409 `app-suspended` while a suspension of the app keeps its subscriptions paused.",
      },
    },
    (request) => change(request, { do: "resume" }),
  );

  routes.post(
    "/subscriptions/:id/consent",
    {
      config: { access: ["org-admin", "operator"] },
      schema: {
        ...changeSchema,
        operationId: "agreeToScopes",
        summary: "Agree to the scopes of an app",
        description:
          "If a new version of the app adds scopes, they are `pendingScopes` until an admin of the organisation, or an operator for it, agrees. `fhirScopes` must be all scopes that the app has now; 409 `scopes-changed` if it has others. The agreement is recorded with person, role and time, and the organisation's EHR and the vendor receive `subscription.updated`. If the scopes are agreed to already, nothing changes.",
        body: consentBody,
      },
    },
    (request) =>
      agreeToScopes(options, requestContextOf(request), request.params.id, request.body, idempotentRequestOf(request)),
  );

  routes.post(
    "/subscriptions/:id/plan",
    {
      config: { access: ["org-admin", "operator"] },
      schema: {
        ...changeSchema,
        response: {
          ...changed,
          ...problemResponses({
            422: "The app has no such plan on sale, the plan has another currency or no `quantity`, or the `Idempotency-Key` was used with another body",
          }),
        },
        operationId: "changeTerms",
        summary: "Change the plan or the quantity of a subscription",
        description:
          "A higher price is charged from this day on (UTC), a lower one after seven days; `GET /subscriptions/{id}/estimate` shows what it costs. A trial ends with that of the new plan if that is earlier, and none begins. The organisation's EHR and the vendor receive `subscription.updated`. The plan and quantity that it has change nothing.",
        body: changeTermsBody,
      },
    },
    (request) =>
      changeTerms(options, requestContextOf(request), request.params.id, request.body, idempotentRequestOf(request)),
  );

  routes.post(
    "/subscriptions/:id/lift-block",
    {
      preValidation: requireNoBody,
      config: { access: ["billing", "operator"] },
      schema: {
        ...changeSchema,
        response: { ...changed, ...problemResponses(429) },
        operationId: "liftBlock",
        summary: "Let an organisation subscribe again",
        description:
          "A subscription that was cancelled while it was paused by billing or by the marketplace blocks new subscriptions of its organisation to the app. This lifts the block.",
      },
    },
    (request) => change(request, { do: "lift-block" }),
  );
}
