import type { IncomingMessage, ServerResponse } from "node:http";
import type { EventApp } from "@ehr-marketplace/contracts";
import type { CleanUp } from "@ehr-marketplace/test-kit";
import { type MarketplaceStub, sendJson, startMarketplaceStub } from "@ehr-marketplace/tests/support/marketplace-stub";

export interface SandboxRequest {
  line: string;
  authorization: string | undefined;
  cacheControl: string | undefined;
  body: string;
}

type SandboxApp = EventApp & { configSchema?: object; cdsServicesUrl?: string };

/** A marketplace that has sandbox apps only, with an identity provider whose tokens name one organisation each. */
export interface SandboxMarketplace extends MarketplaceStub {
  requests: SandboxRequest[];
  /** The installed drafts, and the organisations with a live subscription to them: its id by alias. */
  apps: Map<string, { app: SandboxApp; subscribers: Record<string, string> }>;
  /** The status of the response to the report of a launch. */
  reportStatus: number;
}

export async function startSandboxMarketplace(cleanUp: CleanUp): Promise<SandboxMarketplace> {
  const respond = (request: IncomingMessage, response: ServerResponse, body: string): void => {
    const path = request.url ?? "";
    const { authorization, "cache-control": cacheControl } = request.headers;
    marketplace.requests.push({ line: `${request.method} ${path}`, authorization, cacheControl, body });
    const slug = /^\/api\/v1\/sandbox-apps\/([a-z0-9-]+)$/.exec(path)?.[1];
    if (slug !== undefined) {
      const found = marketplace.apps.get(slug);
      const mayRead = Object.keys(found?.subscribers ?? {}).some(
        (alias) => authorization === `Bearer token-of-${alias}`,
      );
      if (mayRead) sendJson(response, 200, found?.app);
      else sendJson(response, 404, { code: "sandbox-app-not-found" });
    } else if (path.endsWith("/sandbox-launches")) {
      response.writeHead(marketplace.reportStatus).end();
    } else if (path.startsWith("/api/v1/subscriptions?")) {
      const orgAlias = new URL(path, "http://localhost").searchParams.get("orgAlias") ?? "";
      const updatedAt = new Date(0).toISOString();
      const listed = [...marketplace.apps.values()].flatMap(({ app, subscribers: { [orgAlias]: id } }) =>
        id === undefined ? [] : [{ id, appSlug: app.slug, orgAlias, status: "active", updatedAt, app }],
      );
      sendJson(response, 200, listed);
    } else {
      sendJson(response, 404, { code: "app-not-found" });
    }
  };
  const marketplace: SandboxMarketplace = {
    ...(await startMarketplaceStub(cleanUp, respond)),
    requests: [],
    apps: new Map(),
    reportStatus: 204,
  };
  return marketplace;
}
