import {
  appSlugParams,
  consumeLaunchBody,
  launchBody,
  launchContextDto,
  launchContextResponse,
  launchDto,
  launchLogEntry,
  launchLogResponse,
  launchResponse,
  type PageQuery,
  pageQuery,
} from "@ehr-marketplace/contracts";
import { getCaller, responseOf } from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { actingOrganisation, organisationHeader } from "../access/acting-organisation.ts";
import { actorOf } from "../audit/record-audit.ts";
import { appFetchFailures, failureResponses, success } from "../responses.ts";
import { type LaunchDeps, launchApp } from "./launch-app.ts";
import { readLaunches } from "./read-launches.ts";
import { redeemLaunch } from "./redeem-launch.ts";

const shapes = [launchResponse, launchContextResponse, launchContextDto, launchDto, launchLogResponse, launchLogEntry];

const launchers = ["org-member", "org-admin", "operator"] as const;
const readers = ["org-admin", "operator"] as const;
const redeemers = ["launch-redeemer"] as const;

export async function launchRoutes(scope: FastifyInstance, options: LaunchDeps): Promise<void> {
  for (const schema of shapes) scope.addSchema(schema);
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();

  routes.post(
    "/app-installations/:appSlug/launch",
    {
      config: { access: launchers, bodyMayBeOmitted: true },
      schema: {
        tags: ["Launches"],
        operationId: "launchApp",
        summary: "Launch an app",
        description:
          "Writes the launch to the log and returns the URL for the browser. `smart`: the app's launch URL with `iss` and a single-use `launch`, which its authorization server redeems within 5 minutes for the patient and the encounter. `standalone`: the same URL with `iss` alone; the app requests its context itself. `native`: the EHR opens the app by its own means. No patient's id is ever in a URL. A new subscription is confirmed with the marketplace first: 503 while that can't be reached.",
        headers: organisationHeader,
        params: appSlugParams,
        body: launchBody,
        response: {
          200: responseOf("The app is launched", "LaunchResponse"),
          ...failureResponses(401, 403, 404, 409, 413, 415, {
            ...appFetchFailures,
            422: "The app has no `smartLaunchUrl` that browsers open, so it can't be launched as `smart` or `standalone`",
          }),
        },
      },
    },
    async (request, reply) => {
      const app = { orgAlias: actingOrganisation(request, launchers), appSlug: request.params.appSlug };
      return reply.send(
        success("The app is launched.", await launchApp(options, getCaller(request), app, request.body)),
      );
    },
  );

  routes.get(
    "/app-installations/:appSlug/launches",
    {
      config: { access: readers },
      schema: {
        tags: ["Launches"],
        operationId: "listLaunches",
        summary: "Read an app's launch log",
        description:
          "Who launched the app and when, the newest first, without patients. The log stays after the installation is removed.",
        headers: organisationHeader,
        params: appSlugParams,
        querystring: pageQuery,
        response: { 200: responseOf("A page of launches", "LaunchLogResponse"), ...failureResponses(401, 403, 404) },
      },
    },
    async (request, reply) => {
      const log = { orgAlias: actingOrganisation(request, readers), appSlug: request.params.appSlug };
      return reply.send(
        success(
          "The launches of the app, the newest first.",
          await readLaunches(options, log, request.query as PageQuery),
        ),
      );
    },
  );

  routes.post(
    "/internal/launch-contexts/consume",
    {
      config: { access: redeemers },
      schema: {
        tags: ["Internal"],
        operationId: "consumeLaunch",
        summary: "Redeem a launch",
        description:
          "For the authorization server, which knows the app by its client, the organisation by the audience and the user by the sign-in: returns the launch's context once. A `launch` that is unknown, used, expired or of another user, app or organisation is 410, and so is one of an app that was paused or removed since; in each case it can't be redeemed again.",
        body: consumeLaunchBody,
        response: {
          200: responseOf("The context, which is now deleted", "LaunchContextResponse"),
          ...failureResponses(401, 403, 410, 413, 415),
        },
      },
    },
    async (request, reply) => {
      const actor = actorOf(request, request.body.orgAlias, redeemers);
      return reply.send(success("The launch is redeemed.", await redeemLaunch(options, actor, request.body)));
    },
  );
}
