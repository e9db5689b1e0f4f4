import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { before, beforeEach, describe, test } from "node:test";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { type CleanUp, cleanUpAfter } from "@ehr-marketplace/test-kit";
import { type Certificate, issue } from "@ehr-marketplace/test-kit/certificates";
import { launchedApp } from "../registration.test-support.ts";
import { openBrowser } from "../sign-in.ts";
import {
  app,
  authorizing,
  exchange,
  type LaunchingEhr,
  refresh,
  signInToApp,
  startLaunchingEhr,
  type TokenResponse,
} from "./launches.test-support.ts";

interface Documents {
  origin: string;
  requests: string[];
  /** By path. */
  responses: Map<string, { status: number; body: string }>;
}

/** Serves `GET /apps/{slug}/client` over TLS, as the marketplace's contract says. */
async function startDocuments(cleanUp: CleanUp, certificate: Certificate): Promise<Documents> {
  const [requests, responses]: [string[], Documents["responses"]] = [[], new Map()];
  const { cert, key } = certificate;
  const server = createServer({ cert, key }, (request, response) => {
    const path = request.url ?? "";
    requests.push(path);
    const { status, body } = responses.get(path) ?? { status: 404, body: '{"code":"client-not-found"}' };
    response.writeHead(status, { "content-type": "application/json", "cache-control": "public, max-age=60" });
    response.end(body);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanUp(async () => {
    server.close();
    server.closeAllConnections();
  });
  return { origin: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, responses };
}

/** OAuth Client ID Metadata Documents: the app's client identifier is a URL of the marketplace, and nothing is registered. */
describe("an app whose client is a document of the marketplace", () => {
  const cleanUp = cleanUpAfter();
  const authority = issue({ names: [] });
  let marketplace: Documents;
  let ehr: LaunchingEhr;
  before(async () => {
    const trusted = getCACertificates("default");
    setDefaultCACertificates([...trusted, authority.cert]);
    cleanUp(async () => setDefaultCACertificates(trusted));
    marketplace = await startDocuments(cleanUp, issue({ names: ["127.0.0.1"], by: authority }));
    ehr = await startLaunchingEhr(cleanUp, { metadataDocuments: `${marketplace.origin}/api/v1/apps/` });
  });
  beforeEach(() => {
    marketplace.requests.length = 0;
  });

  /** Publishes the metadata of an app, and returns the URL. The library keeps a document for its time, so each test has its own. */
  function publish(slug: string, changes: object = {}, { origin, responses } = marketplace): string {
    const path = `/api/v1/apps/${slug}/client`;
    const metadata = { ...launchedApp, client_id: origin + path, logo_uri: `${origin}/media/icon.png`, ...changes };
    responses.set(path, { status: 200, body: JSON.stringify(metadata) });
    return origin + path;
  }
  async function beginWith(clientId: string): Promise<Response> {
    const url = new URL(`${ehr.identityProvider.issuer}/auth`);
    url.search = new URLSearchParams({ ...authorizing({ ...ehr, clientId }, "any"), response_type: "code" }).toString();
    return openBrowser()(url);
  }
  async function assertUnknown(clientId: string): Promise<void> {
    const response = await beginWith(clientId);
    assert.deepEqual([response.status, response.headers.get("location")], [400, null]);
    assert.match(await response.text(), /invalid_client/);
  }

  test("is found by the authorization server, which says that it supports this", async () => {
    const { issuer } = ehr.identityProvider;
    const found = (await (await fetch(`${issuer}/.well-known/openid-configuration`)).json()) as object;
    assert.ok("client_id_metadata_document_supported" in found);
    assert.equal(found.client_id_metadata_document_supported, true);
  });

  test("signs in and refreshes its token without being registered", async () => {
    const clientId = publish("an-app");
    ehr.clients.registered.set(clientId, app.slug);
    const client = { ...ehr, clientId };
    const launch = await ehr.launch("riverside-member", { patientId: "a-patient" });
    const response = await exchange(client, await signInToApp(client, launch, "riverside-member"));
    const tokens = (await response.json()) as TokenResponse;
    assert.deepEqual([response.status, tokens["patient"], tokens["tenant"]], [200, "a-patient", "riverside-clinic"]);
    assert.equal((await refresh(client, tokens.refresh_token)).status, 200);
    assert.deepEqual(marketplace.requests, ["/api/v1/apps/an-app/client"]);
  });

  test("is sent back only to a redirect URI of its document", async () => {
    const clientId = publish("elsewhere", { redirect_uris: ["https://vendor.example/back"] });
    ehr.clients.registered.set(clientId, app.slug);
    const response = await beginWith(clientId);
    assert.deepEqual([response.status, response.headers.get("location")], [400, null]);
    assert.match(await response.text(), /invalid_redirect_uri/);
  });

  test("is refused while the EHR doesn't have it", async () => {
    const response = await beginWith(publish("not-installed"));
    assert.equal(new URL(response.headers.get("location") ?? "").searchParams.get("error"), "access_denied");
  });

  test("is unknown if the app is suspended, or was never published", async () => {
    const [suspended, unpublished] = ["/api/v1/apps/suspended/client", "/api/v1/apps/never-published/client"] as const;
    marketplace.responses.set(suspended, { status: 410, body: '{"code":"app-suspended"}' });
    await assertUnknown(marketplace.origin + suspended);
    await assertUnknown(marketplace.origin + unpublished);
    assert.deepEqual([...new Set(marketplace.requests)], [suspended, unpublished]);
  });

  test("is never fetched from anywhere else", async () => {
    const other = await startDocuments(cleanUp, issue({ names: ["127.0.0.1"], by: authority }));
    const { origin } = marketplace;
    for (const clientId of [
      publish("an-app", {}, other),
      `${origin}/api/v1/vendors/an-app/client`,
      `${origin}/api/v1/apps/../apps/an-app/client`,
      `${origin.replace("https:", "http:")}/api/v1/apps/an-app/client`,
      "https://10.1.2.3/api/v1/apps/an-app/client",
    ]) {
      await assertUnknown(clientId);
    }
    assert.deepEqual([marketplace.requests, other.requests], [[], []]);
  });

  test("is refused from a marketplace whose certificate isn't trusted", async () => {
    const stranger = await startDocuments(cleanUp, issue({ names: ["127.0.0.1"], by: issue({ names: [] }) }));
    const other = await startLaunchingEhr(cleanUp, { metadataDocuments: `${stranger.origin}/api/v1/apps/` });
    const clientId = publish("an-app", {}, stranger);
    const url = new URL(`${other.identityProvider.issuer}/auth`);
    url.search = new URLSearchParams({
      ...authorizing({ ...other, clientId }, "any"),
      response_type: "code",
    }).toString();
    const response = await openBrowser()(url);
    assert.deepEqual([response.status, response.headers.get("location"), stranger.requests], [400, null, []]);
  });

  for (const [what, changes, error] of [
    ["has another identifier", { client_id: "https://vendor.example/client" }, /invalid_client_metadata/],
    ["has more than 5 KiB", { client_name: "x".repeat(5 * 1024) }, /invalid_client/],
    ["has a shared secret", { token_endpoint_auth_method: "client_secret_basic" }, /invalid_client_metadata/],
    ["has a scope that isn't SMART's", { scope: "launch admin" }, /invalid_client_metadata/],
  ] as const) {
    test(`is refused if the document ${what}`, async () => {
      const response = await beginWith(publish(what.replaceAll(/\W+/g, "-"), changes));
      assert.deepEqual([response.status, response.headers.get("location")], [400, null]);
      assert.match(await response.text(), error);
    });
  }
});
