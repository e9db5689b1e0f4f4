import {
  clientMetadata,
  connectionDto,
  putConnectionBody,
  sandboxAppParams,
  subscriptionParams,
} from "@ehr-marketplace/contracts";
import { getCaller, problemResponses, responseOf } from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { requestContextOf } from "../access/request-context.ts";
import { developerHeaders } from "../access/vendor-context.ts";
import { type ClientDeps, getSandboxClient } from "./read-client.ts";
import { type ConnectionDeps, getConnection, reportConnection } from "./report-connection.ts";

/** `GET /apps/{slug}/client` is one of the catalog's routes, which need no token. */
export async function connectionRoutes(
  scope: FastifyInstance,
  options: ConnectionDeps & Pick<ClientDeps, "publicUrl">,
): Promise<void> {
  for (const schema of [clientMetadata, connectionDto]) scope.addSchema(schema);
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();
  const tags = ["Connections"];

  routes.get(
    "/subscriptions/:id/connection",
    {
      config: { access: ["org-member", "org-admin", "ehr-service", "vendor-developer", "auditor", "operator"] },
      schema: {
        tags,
        operationId: "getConnection",
        summary: "Get the connection of a subscription",
        description:
          "What the organisation's EHR has reported last, also of a cancelled subscription; before its first report, `pending`. For everyone who may read the subscription.",
        headers: developerHeaders,
        params: subscriptionParams,
        response: { 200: responseOf("The connection", "ConnectionDto"), ...problemResponses(401, 403, 404) },
      },
    },
    (request) => getConnection(options, getCaller(request), request.params.id, request.headers["x-vendor-slug"]),
  );

  routes.put(
    "/subscriptions/:id/connection",
    {
      config: { access: ["ehr-service"] },
      schema: {
        tags,
        operationId: "reportConnection",
        summary: "Report the connection of a subscription",
        description:
          "For the organisation's EHR: whether its authorization server knows the app's client. `ready` needs `clientId` and `fhirBaseUrl`, `failed` a `reason`. A change is sent to the vendor's endpoints that select `connection.updated`; the same report again changes nothing.",
        params: subscriptionParams,
        body: putConnectionBody,
        response: {
          200: responseOf("The connection as it is now", "ConnectionDto"),
          ...problemResponses(401, 403, 404, 413, 415, {
            409: "The subscription is cancelled",
            429: "The connection has changed 30 times within an hour; try again after `Retry-After` seconds",
          }),
        },
      },
    },
    (request) => reportConnection(options, requestContextOf(request), request.params.id, request.body),
  );

  routes.get(
    "/sandbox-apps/:slug/client",
    {
      config: { access: ["ehr-service", "vendor-developer", "operator"] },
      schema: {
        tags,
        operationId: "getSandboxClient",
        summary: "Get the OAuth client of a sandbox app",
        description:
          "The same as `GET /apps/{slug}/client`, of a draft as it is installed in sandbox organisations, without its links. For those who may read the sandbox app. No authorization server can fetch it, because it isn't public.",
        params: sandboxAppParams,
        response: {
          200: responseOf("The client's metadata (RFC 7591)", "ClientMetadata"),
          ...problemResponses(401, 403, {
            404: "No such sandbox app of yours, or its draft doesn't say how it signs in",
          }),
        },
      },
    },
    async (request, reply) =>
      reply
        .header("cache-control", "private, no-store")
        .send(await getSandboxClient({ ...options, prefix: scope.prefix }, getCaller(request), request.params.slug)),
  );
}
