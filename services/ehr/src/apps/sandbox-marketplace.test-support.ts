import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { EventApp } from "@ehr-marketplace/contracts";
import type { CleanUp } from "@ehr-marketplace/test-kit";

export interface SandboxRequest {
  line: string;
  authorization: string | undefined;
  cacheControl: string | undefined;
  body: string;
}

/** A marketplace that has sandbox apps only, with an identity provider whose tokens name one organisation each. */
export interface SandboxMarketplace {
  url: string;
  /** For the EHR service. */
  environment: Record<string, string>;
  requests: SandboxRequest[];
  /** The installed drafts, and the organisations with a live subscription to them: its id by alias. */
  apps: Map<string, { app: EventApp & { configSchema?: object }; subscribers: Record<string, string> }>;
  /** The status of the response to the report of a launch. */
  reportStatus: number;
}

export async function startSandboxMarketplace(cleanUp: CleanUp): Promise<SandboxMarketplace> {
  const json = (response: ServerResponse, status: number, body: unknown): void =>
    void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? "";
    const body = await text(request);
    if (path === "/token") {
      const alias = new URLSearchParams(body).get("scope");
      json(response, 200, { access_token: `token-of-${alias}`, token_type: "Bearer", expires_in: 3_600 });
      return;
    }
    const { authorization, "cache-control": cacheControl } = request.headers;
    marketplace.requests.push({ line: `${request.method} ${path}`, authorization, cacheControl, body });
    const slug = /^\/api\/v1\/sandbox-apps\/([a-z0-9-]+)$/.exec(path)?.[1];
    if (slug !== undefined) {
      const found = marketplace.apps.get(slug);
      const mayRead = Object.keys(found?.subscribers ?? {}).some(
        (alias) => authorization === `Bearer token-of-${alias}`,
      );
      if (mayRead) json(response, 200, found?.app);
      else json(response, 404, { code: "sandbox-app-not-found" });
    } else if (path.endsWith("/sandbox-launches")) {
      response.writeHead(marketplace.reportStatus).end();
    } else if (path.startsWith("/api/v1/subscriptions?")) {
      const orgAlias = new URL(path, "http://localhost").searchParams.get("orgAlias") ?? "";
      const updatedAt = new Date(0).toISOString();
      const listed = [...marketplace.apps.values()].flatMap(({ app, subscribers: { [orgAlias]: id } }) =>
        id === undefined ? [] : [{ id, appSlug: app.slug, orgAlias, status: "active", updatedAt, app }],
      );
      json(response, 200, listed);
    } else {
      json(response, 404, { code: "app-not-found" });
    }
  };
  const server = createServer((request, response) => void respond(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanUp(async () => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const marketplace: SandboxMarketplace = {
    url: `${origin}/api/v1`,
    environment: {
      MARKETPLACE_URL: `${origin}/api/v1`,
      MARKETPLACE_TOKEN_URL: `${origin}/token`,
      MARKETPLACE_CLIENT_ID: "ehr-service",
      MARKETPLACE_CLIENT_SECRET: "development-only",
      MARKETPLACE_TOKEN_PARAMETERS: "scope={orgAlias}",
    },
    requests: [],
    apps: new Map(),
    reportStatus: 204,
  };
  return marketplace;
}
