import {
  appDto,
  endInstallationParams,
  installDraftBody,
  listingParams,
  pricingPlanDto,
  sandboxAppParams,
  subscriptionDto,
  subscriptionParams,
} from "@ehr-marketplace/contracts";
import {
  createRateCounter,
  getCaller,
  problemResponses,
  requireNoBody,
  responseOf,
} from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { requestContextOf } from "../access/request-context.ts";
import { vendorContextOf, vendorHeaders } from "../access/vendor-context.ts";
import { idempotencyKeyHeader, idempotentRequestOf } from "../idempotency/idempotent-request.ts";
import { endInstallation } from "./end-installation.ts";
import { installDraftInSandbox, type SandboxDeps } from "./install-draft.ts";
import { getSandboxApp } from "./read-sandbox-app.ts";
import { reportLaunch } from "./report-launch.ts";

const tags = ["Sandbox"];
const installationsPerMinute = 120;
const recorded: object = { description: "The launch is recorded", type: "null" };

export async function sandboxRoutes(scope: FastifyInstance, options: SandboxDeps): Promise<void> {
  for (const schema of [appDto, pricingPlanDto, subscriptionDto]) scope.addSchema(schema);
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();
  // Each installation takes the catalog's lock, which approvals and suspensions wait for.
  const installations = createRateCounter(scope, {
    perMinute: installationsPerMinute,
    detail: `A vendor can install drafts ${installationsPerMinute} times a minute.`,
    keyGenerator: (request) => vendorContextOf(request).vendor,
  });

  routes.post(
    "/developer/apps/:slug/test-subscriptions",
    {
      config: { access: ["vendor-developer", "operator"] },
      schema: {
        tags,
        operationId: "installDraft",
        summary: "Install the draft in a sandbox organisation",
        description:
          "Subscribes the sandbox organisation to the draft, which is installed as an app of its own: `sandbox-` and the listing's slug, which is shortened if it has more than 56 characters. Again, it takes the draft as it is now, in every sandbox organisation that has it, except others in which it has changed 30 times within an hour; if the draft has changed, they receive `subscription.updated`. Only errors in `name`, `category`, `extensionPoints`, `smartLaunchUrl`, `fhirScopes`, `configSchema`, `cdsServicesUrl` and `oauth` prevent it. If it names hooks (`cds:` extension points), the services at `cdsServicesUrl` are requested, and the check of the draft compares their hooks; the response waits for them for at most 5 seconds. It is never charged, and never in the public catalog.",
        headers: { type: "object", properties: { ...vendorHeaders.properties, ...idempotencyKeyHeader } } as const,
        params: listingParams,
        body: installDraftBody,
        response: {
          200: responseOf("The draft was installed already; the subscription as it is now", "SubscriptionDto"),
          201: {
            ...responseOf("The new subscription", "SubscriptionDto"),
            headers: { location: { type: "string", description: "URL of the subscription" } },
          },
          ...problemResponses(401, 404, 413, 415, {
            403: "`orgAlias` is not a sandbox organisation of the vendor, or you may not act for the vendor",
            409: "The subscription is paused, subscribing again is blocked, or the vendor has 20 other drafts installed",
            422: "The draft has errors; `errors` lists them. Or the `Idempotency-Key` was used with another body",
            429: "The organisation's subscription to the draft has changed 30 times within an hour, or the vendor has installed drafts 120 times within a minute; try again after `Retry-After` seconds",
          }),
        },
      },
    },
    async (request, reply) => {
      const tooMany = await installations.count(request);
      if (tooMany !== undefined) throw tooMany;
      const input = { ...request.body, slug: request.params.slug };
      const { created, subscription } = await installDraftInSandbox(
        options,
        vendorContextOf(request),
        input,
        idempotentRequestOf(request),
      );
      if (created) void reply.code(201).header("location", `${scope.prefix}/subscriptions/${subscription.id}`);
      return reply.send(subscription);
    },
  );

  routes.delete(
    "/developer/apps/:slug/test-subscriptions/:orgAlias",
    {
      preValidation: requireNoBody,
      config: { access: ["vendor-developer", "operator"] },
      schema: {
        tags,
        operationId: "endInstallation",
        summary: "Take the draft out of a sandbox organisation",
        description:
          "Cancels the sandbox organisation's subscription to the draft: its EHR removes the app, and its OAuth client. One that is cancelled already stays as it is, so it can be repeated. Installing the draft again is possible, unless an operator had paused it.",
        headers: vendorHeaders,
        params: endInstallationParams,
        response: {
          200: responseOf("The subscription, cancelled", "SubscriptionDto"),
          ...problemResponses(401, 413, 415, {
            403: "`orgAlias` is not a sandbox organisation of the vendor, or you may not act for the vendor",
            404: "The vendor has no such listing, or its draft was never installed there",
            429: "The subscription has changed 30 times within an hour, or too many requests; try again after `Retry-After` seconds",
          }),
        },
      },
    },
    (request) => endInstallation(options, vendorContextOf(request), request.params),
  );

  routes.get(
    "/sandbox-apps/:slug",
    {
      config: { access: ["ehr-service", "vendor-developer", "operator"] },
      schema: {
        tags,
        operationId: "getSandboxApp",
        summary: "Get a sandbox app",
        description:
          "A draft as it is installed in sandbox organisations: for EHRs whose organisation has a live subscription to it, for the vendor's developers and for operators. `publishedAt` is when it was first installed.",
        params: sandboxAppParams,
        response: { 200: responseOf("The app", "AppDto"), ...problemResponses(401, 403, 404) },
      },
    },
    async (request, reply) =>
      reply
        .header("cache-control", "private, no-store")
        .type("application/json; charset=utf-8")
        .send(await getSandboxApp(options.database, getCaller(request), request.params.slug)),
  );

  routes.post(
    "/subscriptions/:id/sandbox-launches",
    {
      preValidation: requireNoBody,
      config: { access: ["ehr-service"] },
      schema: {
        tags,
        operationId: "reportSandboxLaunch",
        summary: "Report the launch of a sandbox app",
        description:
          "For EHRs: after a sandbox app was launched, the check of its listing no longer has the warning `not-launched-in-sandbox`. Nothing about the user or a patient is sent. Launches within an hour are recorded once.",
        params: subscriptionParams,
        response: {
          204: recorded,
          ...problemResponses(401, 403, 413, 415, { 404: "No subscription of yours to a sandbox app has that id" }),
        },
      },
    },
    async (request, reply) => {
      await reportLaunch(options, requestContextOf(request), request.params.id);
      return reply.code(204).send();
    },
  );
}
