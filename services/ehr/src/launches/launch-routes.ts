import {
  appSlugParams,
  consumeLaunchBody,
  launchAnswer,
  launchBody,
  launchContextAnswer,
  launchContextDto,
  launchDto,
  launchLogAnswer,
  launchLogEntry,
  type PageQuery,
  pageQuery,
} from "@ehr-marketplace/contracts";
import { answerOf, callerOf } from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { actingOrganisation } from "../access/acting-organisation.ts";
import { organisationHeader } from "../access/organisation-header.ts";
import { failureResponses, fetchFailures, success } from "../answers.ts";
import { actorOf } from "../audit/record-audit.ts";
import { type Launching, launchApp } from "./launch-app.ts";
import { readLaunches } from "./read-launches.ts";
import { redeemLaunch } from "./redeem-launch.ts";

const shapes = [launchAnswer, launchContextAnswer, launchContextDto, launchDto, launchLogAnswer, launchLogEntry];

const launchers = ["org-member", "org-admin", "operator"] as const;
const readers = ["org-admin", "operator"] as const;
const redeemers = ["launch-redeemer"] as const;

export async function launchRoutes(scope: FastifyInstance, options: Launching): Promise<void> {
  for (const schema of shapes) scope.addSchema(schema);
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();

  routes.post(
    "/app-installations/:appSlug/launch",
    {
      config: { access: launchers, waitsOnlyForDatabase: true, bodyMayBeOmitted: true },
      schema: {
        tags: ["Launches"],
        operationId: "launchApp",
        summary: "Launch an app",
        description:
          "Writes the launch to the log and says where to send the browser. `smart`: the app's launch URL with `iss` and a single-use `launch`, which its authorization server redeems within 5 minutes for the patient and the encounter. `standalone`: the same URL with `iss` alone, and the app asks for its context itself. `native`: the EHR opens the app by its own means. No patient's id is ever in a URL. An app that was subscribed to this moment is confirmed with the marketplace first: 503 while that can't be reached.",
        headers: organisationHeader,
        params: appSlugParams,
        body: launchBody,
        response: {
          200: answerOf("The app is launched", "LaunchAnswer"),
          ...failureResponses(401, 403, 404, 409, 413, 415, {
            ...fetchFailures,
            422: "The app has no `smartLaunchUrl` that browsers open, so it can't be launched as `smart` or `standalone`",
          }),
        },
      },
    },
    async (request, reply) => {
      const app = { orgAlias: actingOrganisation(request, launchers), appSlug: request.params.appSlug };
      return reply.send(success("the app is launched", await launchApp(options, callerOf(request), app, request.body)));
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
          "Who launched the app, and when: the newest first, without patients. The log outlives the installation.",
        headers: organisationHeader,
        params: appSlugParams,
        querystring: pageQuery,
        response: { 200: answerOf("A page of launches", "LaunchLogAnswer"), ...failureResponses(401, 403, 404) },
      },
    },
    async (request, reply) => {
      const log = { orgAlias: actingOrganisation(request, readers), appSlug: request.params.appSlug };
      return reply.send(
        success("the launches of the app", await readLaunches(options, log, request.query as PageQuery)),
      );
    },
  );

  routes.post(
    "/internal/launch-contexts/consume",
    {
      config: { access: redeemers, waitsOnlyForDatabase: true },
      schema: {
        tags: ["Internal"],
        operationId: "consumeLaunch",
        summary: "Redeem a launch",
        description:
          "For the authorization server, which knows the app by its client, the organisation by the audience and the user by the sign-in: answers the launch's context once. A `launch` that is unknown, used, expired or somebody else's is 410, and so is one of an app that was paused or removed meanwhile; whatever the reason, it can't be redeemed any more.",
        body: consumeLaunchBody,
        response: {
          200: answerOf("The context, which is now forgotten here", "LaunchContextAnswer"),
          ...failureResponses(401, 403, 410, 413, 415),
        },
      },
    },
    async (request, reply) => {
      const actor = actorOf(request, request.body.orgAlias, redeemers);
      return reply.send(success("the launch is redeemed", await redeemLaunch(options, actor, request.body)));
    },
  );
}
