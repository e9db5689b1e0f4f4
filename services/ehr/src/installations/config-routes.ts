import { appSlugParams, configAnswer, putConfigBody } from "@ehr-marketplace/contracts";
import { answerOf } from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { actingOrganisation } from "../access/acting-organisation.ts";
import { organisationHeader } from "../access/organisation-header.ts";
import { failureResponses, fetchFailures, success } from "../answers.ts";
import { actorOf } from "../audit/record-audit.ts";
import { type Configuring, putConfig, readConfig } from "./put-config.ts";

const configurers = ["org-admin", "operator"] as const;
const backends = ["ehr-service"] as const;
const mostConfigBytes = 65_536;

export async function configRoutes(scope: FastifyInstance, options: Configuring): Promise<void> {
  scope.addSchema(configAnswer);
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();

  routes.put(
    "/app-installations/:appSlug/config",
    {
      config: { access: configurers },
      bodyLimit: mostConfigBytes,
      schema: {
        tags: ["Installations"],
        operationId: "putConfig",
        summary: "Configure an app",
        description:
          "Replaces the whole configuration, if it is valid against the app's `configSchema`. A value that the schema marks " +
          "`writeOnly` is returned as `null`; `null` for it keeps the stored value, leaving it out removes it. A value that an " +
          "earlier schema marked is treated alike until it is set anew. `default`s are not filled in. At most 64 KiB. 422: the " +
          "schema that the vendor published is outside the supported profile, and the message says why; or all configurations of the " +
          "organisation would have more than 1 MiB together, as they are stored (encrypted, which takes a third more). 429: 52 changes of " +
          "the organisation are under way at once. A schema that isn't known " +
          "yet is fetched first, within two seconds: 503 while the marketplace can't be reached. An app whose schema was never known, " +
          "because it is not published any more, takes any object, and all of it counts as `writeOnly`.",
        headers: organisationHeader,
        params: appSlugParams,
        body: putConfigBody,
        response: {
          200: answerOf("The installed app, configured", "InstallationAnswer"),
          ...failureResponses(401, 403, 404, 413, 415, {
            429: fetchFailures[429],
            422: "The app's `configSchema` can't be used to check the configuration, or the organisation's configurations would be too large together",
            503: "The app or its `configSchema` is not known yet and the marketplace can't be reached, the service is overloaded, or something that it needs is unavailable; try again after `Retry-After` seconds",
          }),
        },
      },
    },
    async (request, reply) => {
      const orgAlias = actingOrganisation(request, configurers);
      const actor = actorOf(request, orgAlias, configurers);
      const record = await putConfig(options, actor, orgAlias, request.params.appSlug, request.body);
      return reply.send(success("The configuration is stored.", record));
    },
  );

  routes.get(
    "/internal/app-installations/:appSlug/config",
    {
      config: { access: backends, waitsOnlyForDatabase: true },
      schema: {
        tags: ["Internal"],
        operationId: "readConfig",
        summary: "Read a configuration with its secrets",
        description:
          "For the EHR's own backend: every value as it was set. No cache keeps it, and the audit log has every reading. One that can't be opened with the keys that " +
          "the service has is 500. An app that was subscribed to this moment is confirmed with the marketplace first: 503 while that " +
          "can't be reached.",
        headers: organisationHeader,
        params: appSlugParams,
        response: {
          200: answerOf("The configuration", "ConfigAnswer"),
          ...failureResponses(401, 403, 404, fetchFailures),
        },
      },
    },
    async (request, reply) => {
      const orgAlias = actingOrganisation(request, backends);
      const actor = actorOf(request, orgAlias, backends);
      const config = await readConfig(options, actor, orgAlias, request.params.appSlug);
      return reply.send(success("The configuration, with its secrets.", config));
    },
  );
}
