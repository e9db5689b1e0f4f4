import {
  appSlugParams,
  installationAnswer,
  installationDto,
  installationsAnswer,
  installedAnswer,
} from "@ehr-marketplace/contracts";
import { answerOf, sendRepresentation } from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance, FastifyReply } from "fastify";
import { actingOrganisation } from "../access/acting-organisation.ts";
import { organisationHeader } from "../access/organisation-header.ts";
import { failureResponses, success } from "../answers.ts";
import { configRoutes } from "./config-routes.ts";
import type { InstallationCache } from "./installation-cache.ts";
import type { Configuring } from "./put-config.ts";
import type { OrganisationInstallations } from "./read-installations.ts";

const readers = ["org-member", "org-admin", "ehr-service", "operator"] as const;
const json = "application/json; charset=utf-8";
const installed = Buffer.from(JSON.stringify(success("The app is installed.", true)));
const notInstalled = Buffer.from(JSON.stringify(success("The app is not installed.", false)));

export async function installationRoutes(
  scope: FastifyInstance,
  options: Configuring & { installations: InstallationCache<OrganisationInstallations> },
): Promise<void> {
  const { installations } = options;
  const shapes = [installationDto, installationAnswer, installationsAnswer, installedAnswer];
  for (const shape of shapes) scope.addSchema(shape);
  await scope.register(configRoutes, options);
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();
  const tags = ["Installations"];
  const reading = { access: readers, waitsOnlyForDatabase: true } as const;

  /** What is at hand is sent at once: a promise, even a kept one, would cost a warm request dearly. */
  const send = (
    reply: FastifyReply,
    orgAlias: string,
    bytesOf: (found: OrganisationInstallations) => Buffer,
  ): FastifyReply | Promise<FastifyReply> => {
    const found = installations.get(orgAlias);
    const answer = (loaded: OrganisationInstallations): FastifyReply =>
      reply.header("content-type", json).send(bytesOf(loaded));
    return found instanceof Promise ? found.then(answer) : answer(found);
  };

  routes.get(
    "/app-installations",
    {
      config: reading,
      schema: {
        tags,
        operationId: "listInstallations",
        summary: "List the installed apps",
        description: "Those of the organisation, also while they are paused, by name.",
        headers: organisationHeader,
        response: {
          200: answerOf("The installed apps", "InstallationsAnswer"),
          304: { description: "Unchanged since the answer whose ETag was sent as `If-None-Match`", type: "null" },
          ...failureResponses(401, 403),
        },
      },
    },
    (request, reply) => {
      const found = installations.get(actingOrganisation(request, readers));
      return sendRepresentation(request, reply, found instanceof Promise ? found.then(({ list }) => list) : found.list);
    },
  );

  routes.get(
    "/app-installations/:appSlug",
    {
      config: reading,
      schema: {
        tags,
        operationId: "getInstallation",
        summary: "Get an installed app",
        description:
          "One of the organisation's installed apps, also while it is paused. An app that was subscribed to this moment is installed " +
          "once the marketplace has confirmed it, and 404 until then.",
        headers: organisationHeader,
        params: appSlugParams,
        response: {
          200: answerOf("The installed app", "InstallationAnswer"),
          ...failureResponses(401, 403, 404),
        },
      },
    },
    (request, reply) => {
      const { appSlug } = request.params;
      return send(reply, actingOrganisation(request, readers), (found) => found.one(appSlug));
    },
  );

  routes.get(
    "/app-installations/:appSlug/installed",
    {
      config: reading,
      schema: {
        tags,
        operationId: "isInstalled",
        summary: "Ask whether an app is installed",
        description:
          "`true` also while it is paused; `false` for any slug that isn't installed. An app that was subscribed to this moment is " +
          "installed once the marketplace has confirmed it.",
        headers: organisationHeader,
        params: appSlugParams,
        response: {
          200: answerOf("Whether it is installed", "InstalledAnswer"),
          ...failureResponses(401, 403),
        },
      },
    },
    (request, reply) => {
      const { appSlug } = request.params;
      return send(reply, actingOrganisation(request, readers), (found) =>
        found.has(appSlug) ? installed : notInstalled,
      );
    },
  );
}
