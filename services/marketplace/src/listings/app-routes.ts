import {
  adminAppDto,
  adminAppPage,
  adminAppSummary,
  type ListAdminAppsQuery,
  listAdminAppsQuery,
  listingParams,
  suspendAppBody,
} from "@ehr-marketplace/contracts";
import { problemResponses, requireNoBody, responseOf } from "@ehr-marketplace/service-kit/http";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import type { Kysely } from "kysely";
import { requestContextOf } from "../access/request-context.ts";
import type { DB } from "../database-schema.ts";
import { featureApp, getAdminApp, listAdminApps, reinstateApp, suspendApp, unfeatureApp } from "./operate-listing.ts";

const tags = ["Apps"];

/** What operators see of apps, and do with published ones. */
export async function appRoutes(
  scope: FastifyInstance,
  options: { database: Kysely<DB>; queue: Queue; clock: () => Date },
): Promise<void> {
  for (const schema of [adminAppDto, adminAppPage, adminAppSummary]) scope.addSchema(schema);
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();
  const config = { access: ["operator"] } as const;

  routes.get(
    "/admin/apps",
    {
      config,
      schema: {
        tags,
        operationId: "listAdminApps",
        summary: "List the apps of all vendors",
        description: "Also drafts, and apps that aren't public. Newest first, at most 100 a page.",
        querystring: listAdminAppsQuery,
        response: { 200: responseOf("A page of apps", "AdminAppPage"), ...problemResponses(401, 403) },
      },
    },
    (request) => listAdminApps(options, request.query as ListAdminAppsQuery),
  );

  routes.get(
    "/admin/apps/:slug",
    {
      config,
      schema: {
        tags,
        operationId: "getAdminApp",
        summary: "Get an app as operators see it",
        description:
          "Its state, also when it isn't public, and the progress of a suspension that pauses its subscriptions.",
        params: listingParams,
        response: { 200: responseOf("The app", "AdminAppDto"), ...problemResponses(401, 403, 404) },
      },
    },
    (request) => getAdminApp(options, request.params.slug),
  );

  const changed = {
    200: responseOf("The app as it is now", "AdminAppDto"),
    ...problemResponses(401, 403, 404, 409, 413, 415),
  };

  for (const { action, operationId, summary, description, run } of [
    {
      action: "feature",
      operationId: "featureApp",
      summary: "Feature an app",
      description: "Recommends the app in `/apps/featured`. Featuring a featured app changes nothing.",
      run: featureApp,
    },
    {
      action: "unfeature",
      operationId: "unfeatureApp",
      summary: "Stop featuring an app",
      description: "The app is no longer recommended.",
      run: unfeatureApp,
    },
    {
      action: "reinstate",
      operationId: "reinstateApp",
      summary: "Reinstate a suspended app",
      description:
        "Its published revision is in the catalog again, unless its vendor unpublished it. If the suspension pauses subscriptions, it stops after the current batch; those that it has paused are resumed in the background, and no others.",
      run: reinstateApp,
    },
  ]) {
    routes.post(
      `/admin/apps/:slug/${action}`,
      {
        preValidation: requireNoBody,
        config,
        schema: { tags, operationId, summary, description, params: listingParams, response: changed },
      },
      (request) => run(options, requestContextOf(request), request.params.slug),
    );
  }

  routes.post(
    "/admin/apps/:slug/suspend",
    {
      config,
      schema: {
        tags,
        operationId: "suspendApp",
        summary: "Suspend an app",
        description:
          "Takes the app out of the catalog at once, so that nobody can subscribe to it. Its vendor sees the reason, and can still submit revisions. With `pauseSubscriptions`, its active subscriptions are paused in the background; until the app is reinstated, resuming any of its subscriptions is 409 `app-suspended`, and cancelling is possible. For an app that is suspended already, this is 409 `already-suspended`, unless it is to pause the subscriptions and the suspension doesn't: then it starts to, and `reason` replaces the earlier one.",
        params: listingParams,
        body: suspendAppBody,
        response: changed,
      },
    },
    (request) => suspendApp(options, requestContextOf(request), request.params.slug, request.body),
  );
}
