import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { before, beforeEach, describe, test } from "node:test";
import { cleanUpAfter, tokenPattern } from "@ehr-marketplace/test-kit";
import { freePort } from "../free-port.ts";
import { fhirBaseUrl, type IdentityProvider, startIdentityProvider } from "../identity-provider/index.ts";
import { register } from "../identity-provider/registration.test-support.ts";
import { type ConnectionsServer, startConnectionsServer } from "./connections.test-support.ts";
import { type DemoAppServer, startDemoApp } from "./start-demo-app.ts";

describe("the demo app", () => {
  const cleanUp = cleanUpAfter();
  let identityProvider: IdentityProvider;
  let marketplace: ConnectionsServer;
  let app: DemoAppServer;
  /** An EHR that says of every client that a practice has the app and has agreed to one scope, as its contract has it. */
  async function startEhr(): Promise<string> {
    const data = {
      active: true,
      appSlug: "northwind-watch",
      subscriptionId: "a-subscription",
      fhirScopes: "system/Observation.rs",
    };
    const server = createServer((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ success: true, message: "", data }));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    cleanUp(async () => {
      server.close();
      server.closeAllConnections();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  before(async () => {
    identityProvider = await startIdentityProvider({ port: 0, ehrUrl: await startEhr() });
    cleanUp(() => identityProvider.stop());
    marketplace = await startConnectionsServer(cleanUp);
    const { issuer } = identityProvider;
    app = await startDemoApp(await freePort(), { issuer, marketplaceUrl: marketplace.url });
    cleanUp(() => app.stop());
  });
  beforeEach(() => {
    marketplace.connections.clear();
    marketplace.requests.length = 0;
  });
  const get = (path: string): Promise<Response> => fetch(`${app.url}${path}`);
  const fhirServer = (alias: string): string => fhirBaseUrl(identityProvider.issuer, alias);
  const connect = (alias: string, clientId: string): void => {
    const fhirServerUrl = fhirServer(alias);
    marketplace.connections.set(alias, { status: "ready", clientId, fhirBaseUrl: fhirServerUrl, reason: null });
  };
  const findClient = async (iss: string): Promise<unknown> =>
    (await get(`/client?${new URLSearchParams({ iss }).toString()}`)).json();

  test("has pages that load only its own files and talk only to its own server and the identity provider", async () => {
    for (const path of ["/", "/launch?iss=x&launch=y"]) {
      const response = await get(path);
      assert.equal(response.status, 200);
      assert.equal(
        response.headers.get("content-security-policy"),
        `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self' ${identityProvider.issuer}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      );
      assert.equal(response.headers.get("referrer-policy"), "no-referrer");
      assert.equal(response.headers.get("cache-control"), "no-store");
      const html = await response.text();
      assert.doesNotMatch(html, /\{\{/);
      const files = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file]) => file ?? "");
      assert.ok(files.length >= 4);
      for (const file of files) assert.equal((await get(file)).status, 200, file);
    }
  });

  test("serves the library that vendors use", async () => {
    const response = await get("/fhir-client.js");
    assert.match(response.headers.get("content-type") ?? "", /^text\/javascript/);
    assert.match(await response.text(), /code_challenge_method=S256/);
  });

  test("serves no other files, and accepts only GET", async () => {
    assert.equal((await get("/page.html")).status, 404);
    assert.equal((await get("/../start-demo-app.ts")).status, 404);
    assert.equal((await fetch(app.url, { method: "POST", body: "x" })).status, 405);
  });

  test("has no client of its own: it learns from the marketplace which it is at a practice", async () => {
    connect("hilltop-family-practice", "client-of-hilltop");
    connect("riverside-clinic", "client-of-riverside");
    const found = await findClient(fhirServer("riverside-clinic"));
    assert.deepEqual(found, { status: "ready", clientId: "client-of-riverside", reason: null });
    const [listing = "", , connection = ""] = marketplace.requests;
    assert.match(listing, /^Bearer \S+ \/api\/v1\/developer\/subscriptions\?appSlug=northwind-scribe&status=active/);
    assert.match(connection, /^Bearer \S+ \/api\/v1\/subscriptions\/subscription-of-riverside-clinic\/connection$/);
  });

  test("says so if the practice's EHR has not connected it, or doesn't have it", async () => {
    marketplace.connections.set("riverside-clinic", {
      status: "failed",
      clientId: null,
      fhirBaseUrl: null,
      reason: "The authorization server refused the app.",
    });
    assert.deepEqual(await findClient(fhirServer("riverside-clinic")), {
      status: "failed",
      clientId: null,
      reason: "The authorization server refused the app.",
    });
    const unknown = { status: "unknown", clientId: null, reason: null };
    assert.deepEqual(await findClient(fhirServer("hilltop-family-practice")), unknown);
    assert.deepEqual(await findClient("https://elsewhere.example/fhir/riverside-clinic"), unknown);
  });

  test("gives its client to no other FHIR server than the one that the EHR has reported", async () => {
    connect("riverside-clinic", "client-of-riverside");
    const reported = marketplace.connections.get("riverside-clinic");
    assert.ok(reported !== undefined);
    marketplace.connections.set("riverside-clinic", { ...reported, fhirBaseUrl: "https://fhir.example/riverside" });
    const found = await findClient(fhirServer("riverside-clinic"));
    assert.deepEqual(found, { status: "ready", clientId: null, reason: null });
  });

  test("publishes the public key of its background service, and nothing of the private one", async () => {
    const { keys } = (await (await get("/jwks.json")).json()) as { keys: object[] };
    assert.deepEqual(
      keys.map((key) => Object.keys(key).toSorted()),
      [["alg", "crv", "kid", "kty", "use", "x", "y"]],
    );
  });

  test("shows what its background service may do for a practice, without the token", async () => {
    const { client_id: clientId } = await register(identityProvider.issuer, {
      redirect_uris: undefined,
      grant_types: ["client_credentials"],
      response_types: [],
      token_endpoint_auth_method: "private_key_jwt",
      jwks_uri: `${app.url}/jwks.json`,
    });
    connect("riverside-clinic", clientId);
    const html = await (await get("/background")).text();
    const access = "<dt>riverside-clinic: access</dt><dd><code>system/Observation.rs</code> for 300 seconds</dd>";
    assert.ok(html.includes(access), html);
    assert.doesNotMatch(html, tokenPattern);
  });

  test("shows why its background service has no access", async () => {
    connect("riverside-clinic", "unknown-client");
    marketplace.connections.set("hilltop-family-practice", {
      status: "failed",
      clientId: null,
      fhirBaseUrl: null,
      reason: "<No> registration.",
    });
    const html = await (await get("/background")).text();
    assert.match(html, /<dt>riverside-clinic: no access<\/dt><dd>client authentication failed<\/dd>/);
    assert.match(html, /<dt>hilltop-family-practice: no access<\/dt><dd>&lt;No&gt; registration\.<\/dd>/);
  });
});
