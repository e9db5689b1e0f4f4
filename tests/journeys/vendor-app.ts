import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { ConnectionUpdatedEvent } from "@ehr-marketplace/contracts";
import type { CleanUp } from "@ehr-marketplace/test-kit";
import { verifyStandard } from "@ehr-marketplace/webhook-signature";

export interface VendorApp {
  launchUrl: string;
  redirectUri: string;
  /** Where the marketplace delivers `connection.updated`. */
  webhookUrl: string;
  webhookSecret: string;
  /** What EHRs have reported, in order of arrival. */
  connections: ConnectionUpdatedEvent[];
  /** The scopes that the app requests at every launch, whether or not they were agreed to. */
  scope: string;
  /** The client that the app claims to be; undefined: the one that the practice's EHR has reported. */
  claimedClientId: string | undefined;
}

/** Begins the sign-in of SMART App Launch 2.2, with PKCE. */
const launchScript = `
const given = new URLSearchParams(location.search);
const iss = given.get("iss");
const encode = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const random = () => encode(crypto.getRandomValues(new Uint8Array(32)));
const { clientId, scope } = await (await fetch("/client?" + new URLSearchParams({ iss }))).json();
const smart = await (await fetch(iss + "/.well-known/smart-configuration")).json();
const [verifier, state] = [random(), random()];
sessionStorage.setItem(state, JSON.stringify({ clientId, verifier, tokenUrl: smart.token_endpoint }));
location.href = smart.authorization_endpoint + "?" + new URLSearchParams({
  response_type: "code",
  client_id: clientId,
  redirect_uri: location.origin + "/back",
  scope,
  aud: iss,
  launch: given.get("launch"),
  state,
  code_challenge: encode(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier))),
  code_challenge_method: "S256",
});
`;

/** Completes the sign-in, and shows the token response, or the error. The button refreshes the token. */
const backScript = `
const response = new URLSearchParams(location.search);
const { clientId, verifier, tokenUrl } = JSON.parse(sessionStorage.getItem(response.get("state")));
const output = document.querySelector("output");
let refreshToken;
async function requestTokens(parameters) {
  output.textContent = "";
  const sent = await fetch(tokenUrl, { method: "POST", body: new URLSearchParams({ client_id: clientId, ...parameters }) });
  const tokens = await sent.json();
  refreshToken = tokens.refresh_token ?? refreshToken;
  output.textContent = JSON.stringify(tokens);
}
document.querySelector("button").addEventListener("click", () =>
  requestTokens({ grant_type: "refresh_token", refresh_token: refreshToken }),
);
if (response.has("error")) {
  output.textContent = JSON.stringify(Object.fromEntries(response));
} else {
  await requestTokens({
    grant_type: "authorization_code",
    code: response.get("code"),
    redirect_uri: location.origin + "/back",
    code_verifier: verifier,
  });
}
`;

const page = (script: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>A vendor's app</title><link rel="icon" href="data:,"></head>
<body><h1>A vendor's app</h1><output></output><button type="button">Refresh</button><script type="module">${script}</script></body></html>`;

/** Starts an app as a vendor would write it. It has no client of its own: EHRs register one, and the marketplace's events name it. */
export async function startVendorApp(cleanUp: CleanUp): Promise<VendorApp> {
  const webhookSecret = "the-secret-of-the-vendor";
  const connections: ConnectionUpdatedEvent[] = [];

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const { valid } = verifyStandard({ headers: request.headers, body, secrets: [webhookSecret] });
    if (valid) connections.push(JSON.parse(body.toString()) as ConnectionUpdatedEvent);
    response.writeHead(valid ? 204 : 401).end();
  }

  /** These deliveries aren't ordered: the newest by its timestamp counts. */
  function findClientId(iss: string | null): string | null {
    const reported = connections.filter(({ connection }) => connection.fhirBaseUrl === iss);
    const newest = reported.toSorted((a, b) => (a.timestamp < b.timestamp ? -1 : 1)).at(-1);
    return newest?.connection.clientId ?? null;
  }

  function respond({ pathname, searchParams }: URL, response: ServerResponse): void {
    if (pathname === "/client") {
      const clientId = app.claimedClientId ?? findClientId(searchParams.get("iss"));
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ clientId, scope: app.scope }));
    } else {
      const script = pathname === "/launch" ? launchScript : backScript;
      response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page(script));
    }
  }

  const server = createServer((request, response) => {
    if (request.method === "POST") void receive(request, response);
    else respond(new URL(request.url ?? "/", "http://app"), response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanUp(async () => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const app: VendorApp = {
    launchUrl: `${url}/launch`,
    redirectUri: `${url}/back`,
    webhookUrl: `${url}/events`,
    webhookSecret,
    connections,
    scope: "",
    claimedClientId: undefined,
  };
  return app;
}
