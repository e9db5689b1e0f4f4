import {
  appSlugParams,
  installationDto,
  installationResponse,
  installationsResponse,
  installedResponse,
} from "@ehr-marketplace/contracts";
import { getCaller, responseOf, sendRepresentation } from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { actingOrganisation, organisationHeader } from "../access/acting-organisation.ts";
import { organisationNotFound } from "../organisations/organisation-errors.ts";
import { isKnownOrganisation } from "../organisations/reconciliation-state.ts";
import { failureResponses, success } from "../responses.ts";
import { configRoutes } from "./config-routes.ts";
import type { InstallationCache } from "./installation-cache.ts";
import type { ConfigDeps } from "./put-config.ts";
import type { OrganisationInstallations } from "./read-installations.ts";

const readers = ["org-member", "org-admin", "ehr-service", "operator"] as const;
const unknownOrganisation = { 404: "For operators: no organisation with that alias exists" };
const json = "application/json; charset=utf-8";
const installed = Buffer.from(JSON.stringify(success("The app is installed.", true)));
const notInstalled = Buffer.from(JSON.stringify(success("The app is not installed.", false)));

export async function installationRoutes(
  scope: FastifyInstance,
  options: ConfigDeps & { installations: InstallationCache<OrganisationInstallations> },
): Promise<void> {
  const { database, installations } = options;
  const shapes = [installationDto, installationResponse, installationsResponse, installedResponse];
  for (const shape of shapes) scope.addSchema(shape);
  await scope.register(configRoutes, options);
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();
  const tags = ["Installations"];
  const reading = { access: readers } as const;
  /** An operator may name any alias, so a mistyped one must not look like an organisation without apps. */
  const readInstallations = async (request: FastifyRequest): Promise<OrganisationInstallations> => {
    const orgAlias = actingOrganisation(request, readers);
    const found = await installations.get(orgAlias);
    const isChecked = found.isEmpty && getCaller(request).roles.has("operator");
    if (isChecked && !(await isKnownOrganisation(database, orgAlias))) throw organisationNotFound();
    return found;
  };

  routes.get(
    "/app-installations",
    {
      config: reading,
      schema: {
        tags,
        operationId: "listInstallations",
        summary: "List the installed apps",
        description: "The organisation's installed apps, including paused ones, by name.",
        headers: organisationHeader,
        response: {
          200: responseOf("The installed apps", "InstallationsResponse"),
          304: { description: "Unchanged since the response whose ETag was sent as `If-None-Match`", type: "null" },
          ...failureResponses(401, 403, unknownOrganisation),
        },
      },
    },
    async (request, reply) => {
      const found = await readInstallations(request);
      return sendRepresentation(request, reply, await found.list);
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
          "One of the organisation's installed apps, including paused ones. A newly subscribed app is installed " +
          "once the marketplace has confirmed it, and 404 until then.",
        headers: organisationHeader,
        params: appSlugParams,
        response: {
          200: responseOf("The installed app", "InstallationResponse"),
          ...failureResponses(401, 403, 404),
        },
      },
    },
    async (request, reply) => {
      const found = await readInstallations(request);
      return reply.header("content-type", json).send(found.get(request.params.appSlug));
    },
  );

  routes.get(
    "/app-installations/:appSlug/installed",
    {
      config: reading,
      schema: {
        tags,
        operationId: "isInstalled",
        summary: "Check whether an app is installed",
        description:
          "`true` also while it is paused; `false` for any slug that isn't installed. A newly subscribed app is " +
          "installed once the marketplace has confirmed it.",
        headers: organisationHeader,
        params: appSlugParams,
        response: {
          200: responseOf("Whether it is installed", "InstalledResponse"),
          ...failureResponses(401, 403, unknownOrganisation),
        },
      },
    },
    async (request, reply) => {
      const found = await readInstallations(request);
      return reply.header("content-type", json).send(found.has(request.params.appSlug) ? installed : notInstalled);
    },
  );
}
