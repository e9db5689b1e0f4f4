import { appSlugParams, configResponse, putConfigBody } from "@ehr-marketplace/contracts";
import { responseOf } from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { actingOrganisation, organisationHeader } from "../access/acting-organisation.ts";
import { actorOf } from "../audit/record-audit.ts";
import { appFetchFailures, failureResponses, success } from "../responses.ts";
import { type ConfigDeps, putConfig, readConfig } from "./put-config.ts";

const configurers = ["org-admin", "operator"] as const;
const backends = ["ehr-service"] as const;
const maxConfigBytes = 65_536;

export async function configRoutes(scope: FastifyInstance, options: ConfigDeps): Promise<void> {
  scope.addSchema(configResponse);
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();

  routes.put(
    "/app-installations/:appSlug/config",
    {
      config: { access: configurers },
      bodyLimit: maxConfigBytes,
      schema: {
        tags: ["Installations"],
        operationId: "putConfig",
        summary: "Configure an app",
        description:
          "Replaces the whole configuration, if it is valid against the app's `configSchema`. A value that the schema marks " +
          "`writeOnly` is returned as `null`; `null` for it keeps the stored value, leaving it out removes it. The same applies to a " +
          "value that an earlier schema marked, until it is set again. `default`s are not filled in. At most 64 KiB. 422: the " +
          "schema that the vendor published is outside the supported profile, and the message gives the reason; or the organisation's " +
          "configurations would exceed 1 MiB in total, as they are stored (encrypted, which adds a third). 429: 52 changes of " +
          "the organisation are already in progress. A schema that isn't known " +
          "yet is fetched first, within two seconds: 503 while the marketplace can't be reached. An app whose schema was never read, " +
          "because it is no longer published, accepts any object, and every value counts as `writeOnly`.",
        headers: organisationHeader,
        params: appSlugParams,
        body: putConfigBody,
        response: {
          200: responseOf("The installed app, configured", "InstallationResponse"),
          ...failureResponses(401, 403, 404, 413, 415, {
            429: appFetchFailures[429],
            422: "The configuration can't be validated with the app's `configSchema`, or the organisation's configurations would exceed their total limit",
            503: "The app or its `configSchema` is not known yet and the marketplace can't be reached, the service is overloaded, or a dependency is unavailable; retry after `Retry-After` seconds",
          }),
        },
      },
    },
    async (request, reply) => {
      const orgAlias = actingOrganisation(request, configurers);
      const actor = actorOf(request, orgAlias, configurers);
      const { appSlug } = request.params;
      const { installation, deletedSecrets } = await putConfig(options, actor, orgAlias, appSlug, request.body);
      const deleted =
        deletedSecrets.length === 0 ? "" : ` Secrets that were left out are deleted: ${deletedSecrets.join(", ")}.`;
      return reply.send(success(`The configuration is stored.${deleted}`, installation));
    },
  );

  routes.get(
    "/internal/app-installations/:appSlug/config",
    {
      config: { access: backends },
      schema: {
        tags: ["Internal"],
        operationId: "readConfig",
        summary: "Read a configuration with its secrets",
        description:
          "For the EHR's own backend: every value as it was set. The response is never cached, and each read is in the audit log. 500: the " +
          "service has no key that decrypts the configuration. A new subscription is confirmed with the marketplace first: 503 while " +
          "that can't be reached.",
        headers: organisationHeader,
        params: appSlugParams,
        response: {
          200: responseOf("The configuration", "ConfigResponse"),
          ...failureResponses(401, 403, 404, appFetchFailures),
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
