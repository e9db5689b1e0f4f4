import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { type CleanUp, withClient } from "@ehr-marketplace/test-kit";

export interface AppClientsServer {
  url: string;
  /** The app's slug by client identifier, as the EHR knows it after registration. */
  registered: Map<string, string>;
  /** How often it was asked about a client. */
  requests: number;
}

interface InstalledRow {
  subscriptionId: string;
  fhirScopes: string;
}

const inactive = { active: false, appSlug: null, subscriptionId: null, fhirScopes: null };

/** `GET /api/internal/app-clients` from the EHR's own tables, in front of an EHR that gets all other requests. */
export async function startAppClientsServer(
  cleanUp: CleanUp,
  { ehrUrl, ownerUrl }: { ehrUrl: string; ownerUrl: string },
): Promise<AppClientsServer> {
  const registered = new Map<string, string>();

  async function findApp(clientId: string, orgAlias: string): Promise<object> {
    const appSlug = registered.get(clientId);
    const { rows } = await withClient(ownerUrl, (client) =>
      client.query<InstalledRow>(
        `select subscription_id as "subscriptionId", coalesce(subscriptions.fhir_scopes, apps.fhir_scopes) as "fhirScopes"
         from installations join apps on slug = installations.app_slug
         join subscriptions on subscriptions.id = subscription_id
         where installations.org_alias = $1 and installations.app_slug = $2 and installations.status = 'active'`,
        [orgAlias, appSlug ?? null],
      ),
    );
    return rows[0] === undefined ? inactive : { active: true, appSlug, ...rows[0] };
  }

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { host: _host, connection: _connection, "content-length": _length, ...headers } = request.headers;
    const body = await buffer(request);
    const answer = await fetch(`${ehrUrl}${request.url}`, {
      method: request.method ?? "GET",
      headers: headers as Record<string, string>,
      ...(body.length === 0 ? {} : { body }),
    });
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" });
    response.end(Buffer.from(await answer.arrayBuffer()));
  }

  const state: AppClientsServer = { url: "", registered, requests: 0 };
  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://ehr");
    if (pathname !== "/api/internal/app-clients") {
      await forward(request, response);
      return;
    }
    state.requests += 1;
    const isAllowed = request.headers.authorization?.startsWith("Bearer ") === true;
    const data = await findApp(searchParams.get("clientId") ?? "", searchParams.get("orgAlias") ?? "");
    response.writeHead(isAllowed ? 200 : 401, {
      "content-type": "application/json",
      "cache-control": "private, max-age=60",
    });
    response.end(JSON.stringify(isAllowed ? { success: true, message: "", data } : { success: false }));
  }
  const server = createServer((request, response) => void respond(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanUp(async () => {
    server.close();
    server.closeAllConnections();
  });
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return state;
}
