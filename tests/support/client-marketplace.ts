import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { EventApp } from "@ehr-marketplace/contracts";
import type { CleanUp } from "@ehr-marketplace/test-kit";
import { type MarketplaceStub, sendJson, startMarketplaceStub } from "./marketplace-stub.ts";

export interface ReportedConnection {
  subscriptionId: string;
  authorization: string | undefined;
  body: { status: string; clientId: string | null; fhirBaseUrl: string | null; reason: string | null };
}

interface MarketplaceApp {
  app: EventApp;
  /** RFC 7591; a number is the status of a problem instead. */
  client: Record<string, unknown> | 404 | 410 | 500;
}

/** What the EHR service requests from a marketplace to connect clients, as the test says. */
export interface ClientMarketplace extends MarketplaceStub {
  apps: Map<string, MarketplaceApp>;
  /** Adds an app whose client is public; returns its slug. */
  publish(slug: string, changes?: Partial<EventApp>, client?: MarketplaceApp["client"]): string;
  /** Requests for client metadata: the path, and the status of the response. */
  metadataRequests: { path: string; status: number }[];
  /** Reports, the oldest first. */
  reports: ReportedConnection[];
  /** The status of the response to a report. */
  reportStatus: number;
}

const appDefaults = {
  id: "01890a5d-ac96-774b-bcce-b302099a8057",
  iconUrl: "https://icons.example/app.svg",
  category: "DOCUMENTATION",
  extensionPoints: ["note-panel"],
  smartLaunchUrl: "https://app.example/launch",
  fhirScopes: "launch openid fhirUser patient/Patient.rs offline_access",
};

/** Client metadata as the marketplace publishes it. */
export const clientMetadataOf = (slug: string, changes: Record<string, unknown> = {}): Record<string, unknown> => ({
  client_id: `https://marketplace.example/api/v1/apps/${slug}/client`,
  client_name: `The app ${slug}`,
  logo_uri: appDefaults.iconUrl,
  redirect_uris: ["https://app.example/callback"],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
  scope: appDefaults.fhirScopes,
  software_id: appDefaults.id,
  software_version: "1.0.0",
  ...changes,
});

export async function startClientMarketplace(cleanUp: CleanUp): Promise<ClientMarketplace> {
  const sendClient = (request: IncomingMessage, response: ServerResponse, slug: string): void => {
    const client = marketplace.apps.get(slug)?.client ?? 404;
    const etag = `"${createHash("sha256").update(JSON.stringify(client)).digest("base64url")}"`;
    const isKnown = typeof client !== "number" && request.headers["if-none-match"] === etag;
    const status = typeof client === "number" ? client : isKnown ? 304 : 200;
    marketplace.metadataRequests.push({ path: request.url ?? "", status });
    if (status === 404) sendJson(response, 404, { code: "client-not-found" });
    else if (status === 410) sendJson(response, 410, { code: "client-suspended" });
    else if (status === 304) response.writeHead(304, { etag }).end();
    else sendJson(response, status, client, { etag });
  };
  const respond = (request: IncomingMessage, response: ServerResponse, body: string): void => {
    const path = request.url ?? "";
    const [, slug, isClient] = /^\/api\/v1\/(?:sandbox-)?apps\/([a-z0-9-]+)(\/client)?$/.exec(path) ?? [];
    const subscriptionId = /^\/api\/v1\/subscriptions\/([0-9a-f-]+)\/connection$/.exec(path)?.[1];
    if (slug !== undefined && isClient !== undefined) {
      sendClient(request, response, slug);
    } else if (slug !== undefined) {
      const found = marketplace.apps.get(slug);
      if (found === undefined) sendJson(response, 404, { code: "app-not-found" });
      else sendJson(response, 200, found.app);
    } else if (subscriptionId !== undefined && request.method === "PUT") {
      const { authorization } = request.headers;
      const report = JSON.parse(body) as ReportedConnection["body"];
      marketplace.reports.push({ subscriptionId, authorization, body: report });
      sendJson(response, marketplace.reportStatus, report);
    } else if (path.startsWith("/api/v1/subscriptions?")) {
      sendJson(response, 200, []);
    } else {
      sendJson(response, 404, { code: "not-found" });
    }
  };
  const marketplace: ClientMarketplace = {
    ...(await startMarketplaceStub(cleanUp, respond)),
    apps: new Map(),
    publish(slug, changes = {}, client = clientMetadataOf(slug)) {
      marketplace.apps.set(slug, { app: { ...appDefaults, slug, name: `The app ${slug}`, ...changes }, client });
      return slug;
    },
    metadataRequests: [],
    reports: [],
    reportStatus: 200,
  };
  return marketplace;
}
