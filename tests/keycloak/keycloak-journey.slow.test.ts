import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type {
  AppClientDto,
  AppClientGrantDto,
  ConnectionDto,
  PricingPlanDto,
  SubscriptionDto,
} from "@ehr-marketplace/contracts";
import { type Persona, personaNames, requestAccessToken } from "@ehr-marketplace/dev/identity-provider";
import { cleanUpAfter, eventually } from "@ehr-marketplace/test-kit";
import { type RequestOptions, sendApiRequest, sendRequest } from "@ehr-marketplace/tests/support/callers";
import { type DevStack, startDevStack } from "@ehr-marketplace/tests/support/dev-stack";
import { parseGuide, runGuide } from "@ehr-marketplace/tests/support/guide-commands";
import { createPublisher, type Publisher } from "@ehr-marketplace/tests/support/publisher";
import { startVendorApp, type VendorApp } from "../journeys/vendor-app.ts";
import { patienceMs } from "./practice.ts";
import { attachToRealm, nameRealm, type Realm } from "./realm.ts";
import { requestAuthorization, requestToken, signIn, type TokenResponse } from "./sign-in.ts";

const guide = parseGuide(await readFile(new URL("../../docs/guides/keycloak.md", import.meta.url), "utf8"));
const preparation = guide.filter(({ heading }) => heading === "Prepare the realm");
const [vendor, slug] = ["juniper-labs", "juniper-growth"];
const orgAlias = "riverside-clinic";
const developer = "juniper-developer";
const scope = "launch openid fhirUser online_access patient/Observation.rs";

/**
 * The local stack with Keycloak as the authorization server of apps, in a realm that the guide has prepared. Each test continues from the
 * previous one.
 */
describe("a vendor's new app, connected to a practice whose authorization server is Keycloak", async () => {
  const cleanUp = cleanUpAfter();
  const tokens = new Map<Persona, string>();
  const named = await nameRealm();
  let realm: Realm;
  let stack: DevStack;
  let app: VendorApp;
  let publisher: Publisher<Persona>;
  let subscription: SubscriptionDto;
  let clientId: string;
  let signedIn: TokenResponse;

  before(async () => {
    await runGuide(preparation, { ports: named.environment });
    const tokenFile = join(process.env["TMPDIR"] ?? "/tmp", `${named.environment["REALM"]}-initial-token`);
    stack = await startDevStack(cleanUp, {
      environment: {
        CLIENT_REGISTRATION_URL: named.registrationUrl,
        CLIENT_REGISTRATION_TOKEN: (await readFile(tokenFile, "utf8")).trim(),
      },
    });
    realm = await attachToRealm(named);
    app = await startVendorApp(cleanUp);
    const issuer = stack.issuer;
    for (const persona of personaNames) tokens.set(persona, await requestAccessToken(issuer, persona));
    publisher = createPublisher(stack.marketplaceUrl, tokenOf, developer);
  });

  const tokenOf = (persona: Persona): string => tokens.get(persona) ?? assert.fail(persona);
  async function marketplace<T>(persona: Persona, path: string, options?: RequestOptions): Promise<T> {
    const response = await sendApiRequest(stack.marketplaceUrl, path, tokenOf(persona), options);
    const body = (await response.json()) as T;
    assert.ok(response.ok, `${path}: ${response.status} ${JSON.stringify(body)}`);
    return body;
  }
  async function ehr<T>(persona: Persona, path: string, options: RequestOptions = {}): Promise<T> {
    const response = await sendRequest(`${stack.ehrUrl}/api${path}`, tokenOf(persona), options);
    return ((await response.json()) as { data: T }).data;
  }
  const clients = async (): Promise<AppClientDto[]> => {
    const { items } = await ehr<{ items: AppClientDto[] }>("operator", "/admin/clients?limit=100");
    return items.filter(({ appSlug }) => appSlug === slug);
  };
  const readGrant = (): Promise<AppClientGrantDto> =>
    ehr("launch-redeemer", `/internal/app-clients?${new URLSearchParams({ clientId, orgAlias }).toString()}`);
  const refresh = (): Promise<TokenResponse> =>
    requestToken(realm, {
      grant_type: "refresh_token",
      client_id: clientId,
      refresh_token: signedIn.refresh_token ?? assert.fail("there is no refresh token"),
    });

  test("is a client of Keycloak once a practice has subscribed, and its vendor is told as which", async () => {
    const registered = { name: "Juniper Labs", websiteUrl: "https://juniper.example", commissionPercent: 20 };
    const contacts = { supportEmail: "help@juniper.example", securityContact: "security@juniper.example" };
    await marketplace("operator", `/admin/vendors/${vendor}`, { method: "PUT", body: { ...registered, ...contacts } });
    await publisher.publish(slug, {
      name: "Juniper Growth",
      smartLaunchUrl: app.launchUrl,
      fhirScopes: scope,
      oauth: { type: "PUBLIC", redirectUris: [app.redirectUri] },
    });
    const [plan] = await marketplace<PricingPlanDto[]>("riverside-admin", `/apps/${slug}/pricing`);
    const body = { appSlug: slug, orgAlias, pricingPlanId: plan?.id, fhirScopes: scope };
    subscription = await marketplace("riverside-admin", "/subscriptions", { body });
    const path = `/subscriptions/${subscription.id}/connection`;
    await eventually("the vendor reads that it is connected", patienceMs, async () => {
      const response = await sendApiRequest(stack.marketplaceUrl, path, tokenOf(developer));
      const { status, clientId: told } = (await response.json()) as Partial<ConnectionDto>;
      assert.notEqual(status, "failed");
      clientId = told ?? "";
      return status === "ready";
    });
    const client = (await realm.readClient(clientId)) ?? assert.fail("Keycloak has no such client");
    assert.deepEqual([client.name, client.redirectUris], ["Juniper Growth", [app.redirectUri]]);
    assert.deepEqual([client.publicClient, client.attributes["pkce.code.challenge.method"]], [true, "S256"]);
  });

  test("signs a user in with the scopes that the practice has agreed to, and refreshes the token", async () => {
    signedIn = await signIn(realm, { clientId, redirectUri: app.redirectUri, scope });
    assert.equal(signedIn.error, undefined, JSON.stringify(signedIn));
    assert.deepEqual((signedIn.scope ?? "").split(" ").toSorted(), scope.split(" ").toSorted());
    assert.equal((await refresh()).error, undefined);
    const { active, fhirScopes } = await readGrant();
    assert.deepEqual([active, fhirScopes], [true, scope]);
  });

  test("has a redirect URI more after the vendor has published it", async () => {
    const added = app.redirectUri.replace("/back", "/return");
    await publisher.edit(slug, {
      version: "1.1.0",
      releaseNotes: "Returns to another page.",
      oauth: { type: "PUBLIC", redirectUris: [app.redirectUri, added] },
    });
    await publisher.approve(await publisher.submit(slug));
    const [client] = await clients();
    // The metadata is fetched at most once a minute.
    await eventually("Keycloak has it", patienceMs + 60_000, async () => {
      await ehr("operator", `/admin/clients/${client?.id}/retry`, { method: "POST" });
      await delay(1_000);
      return (await realm.readClient(clientId))?.redirectUris.includes(added) === true;
    });
    const request = { clientId, redirectUri: added, scope };
    assert.equal((await signIn(realm, request)).error, undefined);
    assert.equal((await clients())[0]?.clientId, clientId, "it is the same client");
  });

  test("is inactive for the check of tokens while it is paused; Keycloak by itself doesn't check", async () => {
    const path = `/subscriptions/${subscription.id}`;
    await marketplace("billing", `${path}/pause`, { body: { reason: "NON_PAYMENT" } });
    await eventually("the EHR has heard of it", patienceMs, async () => !(await readGrant()).active);
    assert.equal((await refresh()).error, undefined, "if Keycloak refuses this, correct the guide");
    await marketplace("billing", `${path}/resume`, { method: "POST" });
    await eventually("the EHR has heard of it", patienceMs, async () => (await readGrant()).active);
  });

  test("is no client any more once the practice has cancelled, and can't refresh or sign in", async () => {
    await marketplace("riverside-admin", `/subscriptions/${subscription.id}/cancel`, { method: "POST" });
    await eventually("the client is gone", patienceMs, async () => (await clients()).length === 0);
    assert.equal(await realm.readClient(clientId), null);
    assert.equal((await refresh()).error, "invalid_client");
    const request = { clientId, redirectUri: app.redirectUri, scope };
    assert.equal((await requestAuthorization(realm, request, "any-verifier")).status, 400);
    assert.equal((await readGrant()).active, false);
  });

  test("docs/guides/keycloak.md works as it is written", async () => {
    const steps = guide.filter((step) => !preparation.includes(step));
    assert.ok(steps.length >= 5, "the guide has lost its commands");
    const printed = await runGuide(steps, { ports: { ...stack.ports, ...named.environment } });
    for (const [index, { commands, expectedOutput }] of steps.entries()) {
      assert.equal(printed[index], expectedOutput ?? "", commands);
    }
    const left = await realm.createInitialToken(1);
    const refused = await fetch(realm.registrationUrl, {
      method: "POST",
      headers: { authorization: `Bearer ${left}`, "content-type": "application/json" },
      body: JSON.stringify({ redirect_uris: ["https://app.example/callback"], scope: "patient/Patient.rs" }),
    });
    assert.equal(refused.status, 403, "the realm has none of these scopes any more");
  });
});
