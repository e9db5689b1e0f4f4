import {
  appClientDeletedResponse,
  appClientDto,
  appClientGrantDto,
  appClientGrantResponse,
  appClientParams,
  appClientResponse,
  appClientsResponse,
  findAppClientQuery,
  type ListAppClientsQuery,
  listAppClientsQuery,
  putAppClientBody,
} from "@ehr-marketplace/contracts";
import { requireNoBody, responseOf } from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { operatorOf } from "../audit/record-audit.ts";
import { failureResponses, success } from "../responses.ts";
import { type FindDeps, findAppClient } from "./find-app-client.ts";
import { deleteClient, getClient, listClients, type ManageDeps, putClient, retryClient } from "./manage-clients.ts";

const operators = { access: ["operator"] } as const;
const tags = ["Operations"];
const json = "application/json; charset=utf-8";

export async function clientRoutes(scope: FastifyInstance, options: FindDeps & ManageDeps): Promise<void> {
  const shapes = [appClientDto, appClientResponse, appClientsResponse, appClientDeletedResponse];
  for (const schema of [...shapes, appClientGrantDto, appClientGrantResponse]) scope.addSchema(schema);
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();

  routes.get(
    "/internal/app-clients",
    {
      config: { access: ["launch-redeemer"], isUnlimited: true },
      schema: {
        tags: ["Internal"],
        operationId: "findAppClient",
        summary: "Check whether a client may have tokens",
        description:
          "For the authorization server, at every token that it issues, refreshed ones included: whether the client's app is installed and active for the organisation, and the scopes that the organisation has agreed to. Grant no others. A client that is unknown or not ready, of another organisation, or of an app that is paused or not installed is `active: false`, all alike. The response may be cached for 60 seconds.",
        querystring: findAppClientQuery,
        response: { 200: responseOf("Whether it may", "AppClientGrantResponse"), ...failureResponses(401, 403) },
      },
    },
    async (request, reply) =>
      reply
        .headers({ "content-type": json, "cache-control": "private, max-age=60", vary: "authorization, origin" })
        .send(await findAppClient(options, request.query)),
  );

  routes.get(
    "/admin/clients",
    {
      config: operators,
      schema: {
        tags,
        operationId: "listAppClients",
        summary: "List the apps' clients at the authorization server",
        description:
          "The newest first, each with its state and with the metadata to register. With `tasks=true` only those that an operator has to act on: `register`, `update` or `remove` the client at the authorization server, or `check` there whether a request had an effect. At most 200 on a page.",
        querystring: listAppClientsQuery,
        response: { 200: responseOf("A page of clients", "AppClientsResponse"), ...failureResponses(401, 403) },
      },
    },
    async (request, reply) =>
      reply.send(
        success("The clients, the newest first.", await listClients(options, request.query as ListAppClientsQuery)),
      ),
  );

  routes.get(
    "/admin/clients/:id",
    {
      config: operators,
      schema: {
        tags,
        operationId: "getAppClient",
        summary: "Get a client",
        description: "A client with its state, and the metadata to register.",
        params: appClientParams,
        response: { 200: responseOf("The client", "AppClientResponse"), ...failureResponses(401, 403, 404) },
      },
    },
    async (request, reply) => reply.send(success("The client.", await getClient(options, request.params.id))),
  );

  routes.put(
    "/admin/clients/:id",
    {
      config: operators,
      schema: {
        tags,
        operationId: "putAppClient",
        summary: "Say that a client is registered",
        description:
          "After you have registered the client at the authorization server, or have updated it, with the current `metadata`; or after you have found it there, if it is `uncertain`. From then on updating and removing it are tasks of operators. 409: this service manages the client and it is `ready`, a request for it is in progress, or another client has the `clientId`.",
        params: appClientParams,
        body: putAppClientBody,
        response: {
          200: responseOf("The client is ready", "AppClientResponse"),
          ...failureResponses(401, 403, 404, 409, 413, 415),
        },
      },
    },
    async (request, reply) => {
      const client = await putClient(options, operatorOf(request), request.params.id, request.body.clientId);
      return reply.send(success("The client is registered.", client));
    },
  );

  routes.delete(
    "/admin/clients/:id",
    {
      preValidation: requireNoBody,
      config: operators,
      schema: {
        tags,
        operationId: "deleteAppClient",
        summary: "Say that a client is gone",
        description:
          "After you have removed the client at the authorization server, or have made sure that there is none. Nothing is sent to the authorization server. An app that is still installed gets another client. 409: this service manages the client and it is `ready` (`retry` reads it at the authorization server, and makes it `uncertain` if it isn't there), or a request for it is in progress.",
        params: appClientParams,
        response: {
          200: responseOf("The client is deleted here", "AppClientDeletedResponse"),
          ...failureResponses(401, 403, 404, 409, 413, 415),
        },
      },
    },
    async (request, reply) => {
      await deleteClient(options, operatorOf(request), request.params.id);
      return reply.send(success("The client is deleted.", null));
    },
  );

  routes.post(
    "/admin/clients/:id/retry",
    {
      preValidation: requireNoBody,
      config: operators,
      schema: {
        tags,
        operationId: "retryAppClient",
        summary: "Try again to connect a client",
        description:
          "Tries now what the hourly job would try. A client that is `ready` and that this service registered is read at the authorization server: if that denies it (401, 404), or if another authorization server or method is configured now, the client becomes `uncertain`; otherwise nothing changes. An `uncertain` client is tried again only by this, according to `attempt`. `register`: first make sure that the authorization server has no client with the `client_name` (and `software_id`, if the server keeps it) of its `metadata` from the time of `attemptedAt`, or remove it there; otherwise there are two. `update`: the client is in use, so don't remove it; the update is sent again, and if the denial was temporary, the client is `ready` and stays managed. `remove`: the removal is sent again. 409: a request for it is in progress.",
        params: appClientParams,
        response: {
          200: responseOf("It is tried soon", "AppClientResponse"),
          ...failureResponses(401, 403, 404, 409, 413, 415),
        },
      },
    },
    async (request, reply) =>
      reply.send(
        success("It is tried again soon.", await retryClient(options, operatorOf(request), request.params.id)),
      ),
  );
}
