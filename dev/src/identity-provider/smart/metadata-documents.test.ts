import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request as sendHttp } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { before, beforeEach, describe, test } from "node:test";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import type { AppClientGrantDto, PricingPlanDto } from "@ehr-marketplace/contracts";
import { type CleanUp, cleanUpAfter, cloneDatabase, eventually } from "@ehr-marketplace/test-kit";
import { type Certificate, issue } from "@ehr-marketplace/test-kit/certificates";
import { type Callers, fetchCallers, sendApiRequest, sendRequest } from "@ehr-marketplace/tests/support/callers";
import { type RunningEhr, startEhr } from "@ehr-marketplace/tests/support/ehr";
import { type RunningMarketplace, startMarketplace } from "@ehr-marketplace/tests/support/marketplace";
import { createPublisher, type Publisher } from "@ehr-marketplace/tests/support/publisher";
import { freePort } from "../../free-port.ts";
import type { Persona } from "../personas.ts";
import { launchedApp } from "../registration.test-support.ts";
import { openBrowser } from "../sign-in.ts";
import { type IdentityProvider, startIdentityProvider } from "../start-identity-provider.ts";
import { fhirBaseUrl } from "./fhir-servers.ts";
import {
  authorizing,
  exchange,
  launchApp,
  redirectUri,
  refresh,
  signInToApp,
  type TokenResponse,
} from "./launches.test-support.ts";

interface TlsProxy {
  origin: string;
  /** The paths that were requested. */
  requests: string[];
  /** Documents, by path, that the marketplace wouldn't publish. */
  forged: Map<string, object>;
  marketplaceUrl: string;
}

/** Ends TLS in front of the marketplace, as in production. */
async function startTlsProxy(cleanUp: CleanUp, { cert, key }: Certificate): Promise<TlsProxy> {
  const proxy: TlsProxy = { origin: "", requests: [], forged: new Map(), marketplaceUrl: "" };
  const server = createServer({ cert, key }, (request, response) => {
    const path = request.url ?? "";
    proxy.requests.push(path);
    const forged = proxy.forged.get(path);
    if (forged !== undefined) {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(forged));
      return;
    }
    const { method, headers } = request;
    const forward = (answer: IncomingMessage): void => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    };
    const onward = sendHttp(`${proxy.marketplaceUrl}${path}`, { method, headers, agent: false }, forward);
    request.pipe(onward.on("error", () => response.destroy()));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanUp(async () => {
    server.close();
    server.closeAllConnections();
  });
  proxy.origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;
}

const orgAlias = "riverside-clinic";
const slug = "a-documented-app";
const draft = {
  smartLaunchUrl: `${redirectUri}launch`,
  fhirScopes: "launch openid fhirUser online_access patient/Observation.rs",
  oauth: { type: "PUBLIC" as const, redirectUris: [redirectUri] },
};

/** OAuth Client ID Metadata Documents: the app's client identifier is a URL of the marketplace, and nothing is registered. */
describe("an app whose client is a document of the marketplace", () => {
  const cleanUp = cleanUpAfter();
  const authority = issue({ names: [] });
  let proxy: TlsProxy;
  let marketplace: RunningMarketplace;
  let ehr: RunningEhr;
  let identityProvider: IdentityProvider;
  let callers: Callers;
  let publisher: Publisher<Persona>;

  before(async () => {
    const trusted = getCACertificates("default");
    setDefaultCACertificates([...trusted, authority.cert]);
    cleanUp(async () => setDefaultCACertificates(trusted));
    proxy = await startTlsProxy(cleanUp, issue({ names: ["127.0.0.1"], by: authority }));
    const port = await freePort();
    const issuer = `http://127.0.0.1:${port}`;
    const tokens = { TOKEN_ISSUER: issuer, TOKEN_JWKS_URL: `${issuer}/jwks` };
    const [marketplaces, ehrs] = [await cloneDatabase(cleanUp, "demo"), await cloneDatabase(cleanUp, "ehr")];
    marketplace = await startMarketplace(cleanUp, marketplaces.serviceUrl, { ...tokens, PUBLIC_URL: proxy.origin });
    proxy.marketplaceUrl = marketplace.url;
    ehr = await startEhr(cleanUp, ehrs.serviceUrl, {
      ...tokens,
      FHIR_BASE_URL: fhirBaseUrl(issuer, "{orgAlias}"),
      CLIENT_REGISTRATION: "cimd",
      MARKETPLACE_URL: `${marketplace.url}/api/v1`,
      MARKETPLACE_TOKEN_URL: `${issuer}/token`,
      MARKETPLACE_CLIENT_ID: "ehr-service",
      MARKETPLACE_CLIENT_SECRET: "development-only",
    });
    const metadataDocuments = `${proxy.origin}/api/v1/apps/`;
    identityProvider = await startIdentityProvider({ port, ehrUrl: ehr.url, metadataDocuments });
    cleanUp(() => identityProvider.stop());
    callers = await fetchCallers(identityProvider);
    publisher = createPublisher(marketplace.url, (who) => callers.token(who), "northwind-developer");
    await publisher.publish(slug, draft);
    await subscribe();
  });
  beforeEach(() => {
    proxy.requests.length = 0;
  });

  const pathOf = (appSlug: string): string => `/api/v1/apps/${appSlug}/client`;
  const clientOf = (appSlug: string): string => proxy.origin + pathOf(appSlug);

  /** Subscribes the practice, and waits until the EHR has the app and its client. */
  async function subscribe(): Promise<void> {
    const [plan] = (await (await marketplace.get(`/apps/${slug}/pricing`)).json()) as PricingPlanDto[];
    const body = { appSlug: slug, orgAlias, pricingPlanId: plan?.id };
    const created = await sendApiRequest(marketplace.url, "/subscriptions", callers.token("riverside-admin"), { body });
    assert.equal(created.status, 201, await created.text());
    const path = `${ehr.url}/api/admin/organisations/${orgAlias}/reconcile`;
    const reconciled = await sendRequest(path, callers.token("operator"), { method: "POST" });
    assert.equal(reconciled.status, 200, await reconciled.text());
    const query = new URLSearchParams({ clientId: clientOf(slug), orgAlias });
    await eventually("the EHR has the client", 30_000, async () => {
      const url = `${ehr.url}/api/internal/app-clients?${query.toString()}`;
      const response = await sendRequest(url, callers.token("launch-redeemer"), {});
      return ((await response.json()) as { data: AppClientGrantDto }).data.active;
    });
  }
  async function beginWith(clientId: string, query: object = {}, server = identityProvider): Promise<Response> {
    const url = new URL(`${server.issuer}/auth`);
    const target = { identityProvider: server, clientId };
    url.search = new URLSearchParams({ ...authorizing(target, "any"), response_type: "code", ...query }).toString();
    return openBrowser()(url);
  }
  async function assertRefused(response: Response, error: RegExp): Promise<void> {
    assert.deepEqual([response.status, response.headers.get("location")], [400, null]);
    assert.match(await response.text(), error);
  }

  test("is found by the authorization server, which says that it supports this", async () => {
    const url = `${identityProvider.issuer}/.well-known/openid-configuration`;
    const found = (await (await fetch(url)).json()) as object;
    assert.ok("client_id_metadata_document_supported" in found);
    assert.equal(found.client_id_metadata_document_supported, true);
  });

  test("signs in and refreshes its token without being registered", async () => {
    const client = { identityProvider, clientId: clientOf(slug) };
    const launched = { ehrUrl: ehr.url, identityProvider, slug };
    const launch = await launchApp(launched, "riverside-member", { patientId: "a-patient" });
    const response = await exchange(client, await signInToApp(client, launch, "riverside-member"));
    const tokens = (await response.json()) as TokenResponse;
    assert.deepEqual([response.status, tokens["patient"], tokens["tenant"]], [200, "a-patient", orgAlias]);
    assert.equal(tokens.scope, draft.fhirScopes);
    assert.equal((await refresh(client, tokens.refresh_token)).status, 200);
    assert.deepEqual(proxy.requests, [pathOf(slug)]);
  });

  test("is sent back only to a redirect URI of its document", async () => {
    const elsewhere = await beginWith(clientOf(slug), { redirect_uri: "https://vendor.example/back" });
    await assertRefused(elsewhere, /invalid_redirect_uri/);
  });

  test("is refused while the EHR doesn't have it", async () => {
    await publisher.publish("not-installed", draft);
    const response = await beginWith(clientOf("not-installed"));
    assert.equal(new URL(response.headers.get("location") ?? "").searchParams.get("error"), "access_denied");
  });

  test("is unknown if the app is suspended, or was never published", async () => {
    await publisher.publish("suspended", draft);
    const body = { reason: "It may be compromised.", pauseSubscriptions: true };
    const suspended = await publisher.request("operator", "/admin/apps/suspended/suspend", { body });
    assert.equal(suspended.status, 200, await suspended.text());
    await publisher.create("never-published", draft);
    for (const appSlug of ["suspended", "never-published"]) {
      await assertRefused(await beginWith(clientOf(appSlug)), /invalid_client/);
    }
    assert.deepEqual([...new Set(proxy.requests)], [pathOf("suspended"), pathOf("never-published")]);
  });

  test("is never fetched from anywhere else", async () => {
    const other = await startTlsProxy(cleanUp, issue({ names: ["127.0.0.1"], by: authority }));
    other.marketplaceUrl = marketplace.url;
    const { origin } = proxy;
    for (const clientId of [
      other.origin + pathOf(slug),
      `${origin}/api/v1/vendors/an-app/client`,
      `${origin}/api/v1/apps/../apps/${slug}/client`,
      clientOf(slug).replace("https:", "http:"),
      `https://10.1.2.3${pathOf(slug)}`,
    ]) {
      await assertRefused(await beginWith(clientId), /invalid_client/);
    }
    assert.deepEqual([proxy.requests, other.requests], [[], []]);
  });

  test("is refused from a marketplace whose certificate isn't trusted", async () => {
    const stranger = await startTlsProxy(cleanUp, issue({ names: ["127.0.0.1"], by: issue({ names: [] }) }));
    stranger.marketplaceUrl = marketplace.url;
    const metadataDocuments = `${stranger.origin}/api/v1/apps/`;
    const other = await startIdentityProvider({ port: 0, ehrUrl: ehr.url, metadataDocuments });
    cleanUp(() => other.stop());
    await assertRefused(await beginWith(stranger.origin + pathOf(slug), {}, other), /invalid_client/);
    assert.deepEqual(stranger.requests, []);
  });

  for (const [what, changes, error] of [
    ["has another identifier", { client_id: "https://vendor.example/client" }, /invalid_client_metadata/],
    ["has more than 5 KiB", { client_name: "x".repeat(5 * 1024) }, /invalid_client/],
    ["has a shared secret", { token_endpoint_auth_method: "client_secret_basic" }, /invalid_client_metadata/],
    ["has a scope that isn't SMART's", { scope: "launch admin" }, /invalid_client_metadata/],
  ] as const) {
    test(`is refused if the document ${what}`, async () => {
      const forged = what.replaceAll(/\W+/g, "-");
      const logo = `${proxy.origin}/media/icon.png`;
      proxy.forged.set(pathOf(forged), { ...launchedApp, client_id: clientOf(forged), logo_uri: logo, ...changes });
      await assertRefused(await beginWith(clientOf(forged)), error);
    });
  }
});
