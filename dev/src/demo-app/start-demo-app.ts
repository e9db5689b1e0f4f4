import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { DemoApp } from "../demo-data/demo-app.ts";
import { demoOrganisations } from "../demo-data/demo-organisations.ts";
import { drawIcon } from "../demo-data/draw-icon.ts";
import { escapeXml } from "../demo-data/escape-xml.ts";
import { fhirBaseUrl, orgAliasOf, requestAccessToken } from "../identity-provider/index.ts";
import { backgroundPage } from "./background-page.ts";
import { type BackgroundAccess, type BackgroundService, createBackgroundService } from "./background-service.ts";
import { Connections } from "./connections.ts";
import { findBackgroundApp, findDemoApp } from "./find-demo-app.ts";

export interface DemoAppServer {
  url: string;
  stop(): Promise<void>;
}

export interface DemoAppOptions {
  issuer: string;
  marketplaceUrl: string;
}

interface SiteResponse {
  status: number;
  type: string;
  content: string;
}

const site = new URL("site/", import.meta.url);
const library = new URL(import.meta.resolve("fhirclient/build/fhir-client.pure.min.js"));
/** Of practices that the page about the background service shows. */
const maxPractices = 20;

type Files = Map<string, Pick<SiteResponse, "type" | "content">>;

async function readSite(app: DemoApp, issuer: string): Promise<Files> {
  const settings = {
    name: app.name,
    scope: app.fhirScopes,
    fhirServers: fhirBaseUrl(issuer, ""),
    practices: Object.fromEntries(demoOrganisations.map(({ alias, displayName }) => [alias, displayName])),
  };
  const template = await readFile(new URL("page.html", site), "utf8");
  const page = (script: string): string =>
    template
      .replaceAll("{{name}}", escapeXml(app.name))
      .replace("{{script}}", script)
      .replace("{{settings}}", () => escapeXml(JSON.stringify(settings)));
  const script = async (file: URL) => ({ type: "text/javascript", content: await readFile(file, "utf8") });
  return new Map([
    ["/", { type: "text/html", content: page("opened.js") }],
    ["/launch", { type: "text/html", content: page("launch.js") }],
    ["/icon.svg", { type: "image/svg+xml", content: drawIcon(app) }],
    ["/style.css", { type: "text/css", content: await readFile(new URL("style.css", site), "utf8") }],
    ["/fhir-client.js", await script(library)],
    ["/launch.js", await script(new URL("launch.js", site))],
    ["/opened.js", await script(new URL("opened.js", site))],
    ["/show.js", await script(new URL("show.js", site))],
  ]);
}

const json = (body: object): SiteResponse => ({ status: 200, type: "application/json", content: JSON.stringify(body) });

/** Tells the app's page which client it is at the practice that launches it: each authorization server has named it itself. */
async function describeClient(connections: Connections, issuer: string, iss: string): Promise<SiteResponse> {
  const orgAlias = orgAliasOf(issuer, iss);
  const connection = orgAlias === undefined ? undefined : await connections.find(orgAlias);
  if (connection === undefined) return json({ status: "unknown", clientId: null, reason: null });
  const { status, clientId, fhirBaseUrl: server, reason } = connection;
  return json({ status, clientId: status === "ready" && server === iss ? clientId : null, reason });
}

async function describeBackground(
  app: DemoApp,
  connections: Connections,
  service: BackgroundService,
): Promise<SiteResponse> {
  const scope = app.fhirScopes
    .split(" ")
    .filter((each) => each.startsWith("system/"))
    .join(" ");
  const accesses: BackgroundAccess[] = [];
  for (const practice of (await connections.listPractices()).slice(0, maxPractices)) {
    const connection = await connections.read(practice);
    // Most of the demo's practices have no EHR.
    if (connection.status !== "pending") accesses.push(await service.requestAccess(connection, scope));
  }
  return { status: 200, type: "text/html", content: backgroundPage(app.name, accesses) };
}

/** Starts a minimal vendor app: the EHR opens it by SMART App Launch, and it shows its launch context. */
export async function startDemoApp(port: number, { issuer, marketplaceUrl }: DemoAppOptions): Promise<DemoAppServer> {
  const url = `http://127.0.0.1:${port}`;
  const app = findDemoApp(url);
  const backgroundApp = findBackgroundApp(url);
  const files = await readSite(app, issuer);
  const service = await createBackgroundService(fhirBaseUrl(issuer, ""));
  const getToken = (): Promise<string> => requestAccessToken(issuer, "northwind-developer");
  const connectionsOf = ({ slug: appSlug }: DemoApp) => new Connections({ marketplaceUrl, appSlug, getToken });

  async function respond({ method, url: target = "/" }: IncomingMessage): Promise<SiteResponse> {
    const { pathname, searchParams } = new URL(target, url);
    if (method !== "GET") return { status: 405, type: "text/plain", content: "Only GET is allowed.\n" };
    if (pathname === "/client") return describeClient(connectionsOf(app), issuer, searchParams.get("iss") ?? "");
    if (pathname === "/jwks.json") return json(service.keys);
    if (pathname === "/background") return describeBackground(backgroundApp, connectionsOf(backgroundApp), service);
    const file = files.get(pathname);
    return file === undefined ? { status: 404, type: "text/plain", content: "Not found.\n" } : { status: 200, ...file };
  }

  const headers = {
    "content-security-policy": `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self' ${issuer}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    connection: "close",
  };
  const unavailable: SiteResponse = { status: 503, type: "text/plain", content: "The marketplace did not respond.\n" };
  async function send(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, type, content } = await respond(request).catch(() => unavailable);
    response.writeHead(status, { ...headers, "content-type": `${type}; charset=utf-8` });
    response.end(content);
  }
  const server = createServer((request, response) => void send(request, response));
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    url,
    async stop() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
