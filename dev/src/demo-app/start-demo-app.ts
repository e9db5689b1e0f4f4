import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { demoOrganisations } from "../demo-data/demo-organisations.ts";
import { drawIcon } from "../demo-data/draw-icon.ts";
import { escapeXml } from "../demo-data/escape-xml.ts";
import { fhirBaseUrl } from "../identity-provider/index.ts";
import { findDemoApp, smartAppOf } from "./smart-app.ts";

export interface DemoAppServer {
  url: string;
  stop(): Promise<void>;
}

const site = new URL("site/", import.meta.url);
const library = new URL(import.meta.resolve("fhirclient/build/fhir-client.pure.min.js"));

type Files = Map<string, { type: string; content: string }>;

async function readSite(url: string, issuer: string): Promise<Files> {
  const app = findDemoApp(url);
  const { clientId, fhirScopes } = smartAppOf(url);
  const settings = {
    name: app.name,
    clientId,
    scope: fhirScopes,
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

/** Starts a minimal vendor app: the EHR opens it by SMART App Launch, and it shows its launch context. */
export async function startDemoApp(port: number, issuer: string): Promise<DemoAppServer> {
  const url = `http://127.0.0.1:${port}`;
  const files = await readSite(url, issuer);
  const headers = {
    "content-security-policy": `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src ${issuer}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    connection: "close",
  };
  const server = createServer((request, response) => {
    const file = files.get(new URL(request.url ?? "/", url).pathname);
    const status = request.method !== "GET" ? 405 : file === undefined ? 404 : 200;
    const type = status === 200 ? file?.type : "text/plain";
    response.writeHead(status, { ...headers, "content-type": `${type}; charset=utf-8` });
    response.end(status === 200 ? file?.content : "Not found.\n");
  });
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
