import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type {
  AppClientDto,
  ClientMetadata,
  ConnectionDto,
  InstallationDto,
  LaunchDto,
  PricingPlanDto,
  SubscriptionDto,
} from "@ehr-marketplace/contracts";
import { fhirBaseUrl, type Persona, personaNames, requestAccessToken } from "@ehr-marketplace/dev/identity-provider";
import { cleanUpAfter, eventually } from "@ehr-marketplace/test-kit";
import { type RequestOptions, sendApiRequest, sendRequest } from "@ehr-marketplace/tests/support/callers";
import { launchChromium } from "@ehr-marketplace/tests/support/chromium";
import { createPublisher, type Publisher } from "@ehr-marketplace/tests/support/publisher";
import { type Stack, startStack } from "@ehr-marketplace/tests/support/stack";
import { decodeJwt } from "jose";
import type { Browser, Page } from "playwright-core";
import { startVendorApp, type VendorApp } from "./vendor-app.ts";

const [vendor, slug, otherSlug] = ["juniper-labs", "juniper-growth", "northwind-scribe"];
const orgAlias = "riverside-clinic";
const developer = "juniper-developer";
const clinician = "Tom Whitfield";
const patientId = "pat-4711";
const scopes = "launch openid fhirUser online_access patient/Observation.rs";
const addedScope = "patient/MedicationRequest.rs";
/** The app requests these too, although neither its listing nor the practice has them. */
const greedyScopes = "offline_access patient/Condition.rs user/Patient.rs system/Patient.rs";
const patienceMs = 60_000;

/** The response of the token endpoint, or the error with which the user is sent back. */
interface TokenResponse {
  access_token?: string;
  id_token?: string;
  scope?: string;
  patient?: string;
  tenant?: string;
  error?: string;
}

/**
 * From a listing to a token, and to the end of the client. No list of the local stack has this app: its client exists because a practice
 * subscribed. Each test continues from the previous one.
 */
describe("a vendor's new app, connected to a practice's EHR", () => {
  const cleanUp = cleanUpAfter();
  const tokens = new Map<Persona, string>();
  let stack: Stack;
  let issuer: string;
  let app: VendorApp;
  let browser: Browser;
  let publisher: Publisher<Persona>;
  let subscription: SubscriptionDto;
  let clientId: string;
  /** The page of a launch, which keeps its refresh token. */
  let opened: Page;

  before(async () => {
    app = await startVendorApp(cleanUp);
    stack = await startStack(cleanUp);
    issuer = stack.issuer;
    for (const persona of personaNames) tokens.set(persona, await requestAccessToken(issuer, persona));
    publisher = createPublisher(stack.marketplaceUrl, tokenOf, developer);
    browser = await launchChromium(cleanUp);
  });

  const tokenOf = (persona: Persona): string => tokens.get(persona) ?? assert.fail(persona);
  async function marketplace<T>(persona: Persona, path: string, options?: RequestOptions): Promise<T> {
    const response = await sendApiRequest(stack.marketplaceUrl, path, tokenOf(persona), options);
    const body = (await response.json()) as T;
    assert.ok(response.ok, `${path}: ${response.status} ${JSON.stringify(body)}`);
    return body;
  }
  async function ehr(
    persona: Persona,
    path: string,
    options: RequestOptions = {},
  ): Promise<{ status: number; data: unknown }> {
    const response = await sendRequest(`${stack.ehrUrl}/api${path}`, tokenOf(persona), options);
    return { status: response.status, data: ((await response.json()) as { data: unknown }).data };
  }

  const installation = async (appSlug: string = slug): Promise<InstallationDto | null> =>
    (await ehr("riverside-admin", `/app-installations/${appSlug}`)).data as InstallationDto | null;
  const clientsOf = async (appSlug: string): Promise<AppClientDto[]> => {
    const { data } = await ehr("operator", "/admin/clients?limit=100");
    return (data as { items: AppClientDto[] }).items.filter((each) => each.appSlug === appSlug);
  };
  async function subscribe(appSlug: string, fhirScopes?: string): Promise<SubscriptionDto> {
    const [plan] = await marketplace<PricingPlanDto[]>("riverside-admin", `/apps/${appSlug}/pricing`);
    const body = { appSlug, orgAlias, pricingPlanId: plan?.id, ...(fhirScopes === undefined ? {} : { fhirScopes }) };
    return marketplace("riverside-admin", "/subscriptions", { body });
  }
  const change = (action: string, body?: object): Promise<SubscriptionDto> =>
    marketplace("billing", `/subscriptions/${subscription.id}/${action}`, {
      method: "POST",
      ...(body === undefined ? {} : { body }),
    });
  const becomes = (status: "active" | "paused"): Promise<void> =>
    eventually(`the EHR has it as ${status}`, patienceMs, async () => (await installation())?.status === status);

  /** Requests a launch as the EHR's page does. */
  const launch = (): Promise<{ status: number; data: unknown }> =>
    ehr("riverside-member", `/app-installations/${slug}/launch`, { body: { patientId } });
  async function launchUrl(): Promise<string> {
    const { status, data } = await launch();
    assert.equal(status, 200);
    return (data as LaunchDto).launchUrl ?? assert.fail("there is no launch URL");
  }
  /** The same launch, opened at another app. */
  function launchAt(otherLaunchUrl: string, url: string): string {
    return `${otherLaunchUrl}?${new URL(url).searchParams.toString()}`;
  }

  async function openPage(): Promise<Page> {
    const page = await browser.newPage();
    page.setDefaultTimeout(patienceMs);
    return page;
  }
  async function readOutput(page: Page): Promise<TokenResponse> {
    const output = page.locator("output:not(:empty)");
    await output.waitFor();
    return JSON.parse(await output.innerText()) as TokenResponse;
  }
  async function signIn(page: Page, url: string): Promise<void> {
    await page.goto(url);
    await page.getByRole("button", { name: clinician }).click();
  }
  /** Opens the app in the browser as the clinician, and returns its token response. */
  async function open(page: Page): Promise<TokenResponse> {
    await signIn(page, await launchUrl());
    return readOutput(page);
  }
  async function refresh(page: Page): Promise<TokenResponse> {
    await page.getByRole("button", { name: "Refresh" }).click();
    return readOutput(page);
  }
  const assertScopes = (response: TokenResponse, expected: string): void => {
    assert.equal(response.error, undefined, JSON.stringify(response));
    assert.deepEqual((response.scope ?? "").split(" ").toSorted(), expected.split(" ").toSorted());
  };
  async function assertNotSignedIn(page: Page): Promise<void> {
    await page.getByRole("heading", { name: "You are not signed in" }).waitFor();
    assert.equal(new URL(page.url()).origin, issuer, "the user isn't sent to the app");
  }

  test("is published with what an authorization server has to know, and is a client nowhere yet", async () => {
    const registered = { name: "Juniper Labs", websiteUrl: "https://juniper.example", commissionPercent: 20 };
    const contacts = { supportEmail: "help@juniper.example", securityContact: "security@juniper.example" };
    await marketplace("operator", `/admin/vendors/${vendor}`, { method: "PUT", body: { ...registered, ...contacts } });
    const { webhookUrl: url, webhookSecret: secret } = app;
    const events = ["connection.updated"];
    await marketplace(developer, "/developer/webhooks", { body: { url, secret, events } });
    await publisher.publish(slug, {
      name: "Juniper Growth",
      smartLaunchUrl: app.launchUrl,
      fhirScopes: scopes,
      oauth: { type: "PUBLIC", redirectUris: [app.redirectUri] },
    });
    const metadata = await marketplace<ClientMetadata>("riverside-admin", `/apps/${slug}/client`);
    assert.equal(metadata.client_id, `${stack.marketplaceUrl}/api/v1/apps/${slug}/client`);
    assert.deepEqual(metadata.redirect_uris, [app.redirectUri]);
    assert.deepEqual(metadata.grant_types, ["authorization_code", "refresh_token"]);
    assert.deepEqual(await clientsOf(slug), []);
  });

  test("is connected by itself once a practice has subscribed, and its vendor is told as which client", async () => {
    subscription = await subscribe(slug, scopes);
    await eventually("the vendor is told", patienceMs, () =>
      app.connections.some(({ connection }) => connection.status === "ready"),
    );
    const told = app.connections.find(({ connection }) => connection.status === "ready") ?? assert.fail();
    assert.deepEqual(
      [told.app.slug, told.subscription.id, told.subscription.orgAlias],
      [slug, subscription.id, orgAlias],
    );
    assert.equal(told.connection.fhirBaseUrl, fhirBaseUrl(issuer, orgAlias));
    clientId = told.connection.clientId ?? assert.fail("the event names no client");
    const read = await marketplace<ConnectionDto>(developer, `/subscriptions/${subscription.id}/connection`);
    assert.deepEqual([read.status, read.clientId, read.reason], ["ready", clientId, null]);
    assert.deepEqual((await installation())?.connection, { status: "ready", clientId, reason: null });
    const [client, ...others] = await clientsOf(slug);
    assert.deepEqual([client?.method, client?.status, client?.clientId, others], ["dcr", "ready", clientId, []]);
  });

  test("is launched in a browser, and gets the scopes that the practice has agreed to and none that it requests besides", async () => {
    app.scope = `${scopes} ${greedyScopes}`;
    opened = await openPage();
    const response = await open(opened);
    assertScopes(response, scopes);
    assert.deepEqual([response.patient, response.tenant], [patientId, orgAlias]);
    assert.equal(decodeJwt(response.access_token ?? "").aud, fhirBaseUrl(issuer, orgAlias));
    const { fhirUser } = decodeJwt(response.id_token ?? "");
    assert.equal(fhirUser, `${fhirBaseUrl(issuer, orgAlias)}/Practitioner/riverside-member`);
    assert.ok(!opened.url().includes(patientId));
  });

  test("refreshes its token, with the same patient and scopes", async () => {
    const earlier = await readOutput(opened);
    const after = await refresh(opened);
    assertScopes(after, scopes);
    assert.notEqual(after.access_token, earlier.access_token);
    assert.equal(after.patient, patientId);
  });

  test("has an added scope at the first launch after the practice has agreed to it, and not before", async () => {
    await publisher.edit(slug, {
      version: "1.1.0",
      releaseNotes: "Considers medication.",
      fhirScopes: `${scopes} ${addedScope}`,
      scopePurposes: { [addedScope]: "Medication changes growth" },
    });
    await publisher.approve(await publisher.submit(slug));
    app.scope = `${scopes} ${addedScope}`;
    const page = await openPage();
    assertScopes(await open(page), scopes);

    const body = { fhirScopes: `${scopes} ${addedScope}` };
    await marketplace("riverside-admin", `/subscriptions/${subscription.id}/consent`, { body });
    await eventually(
      "the EHR has heard of it",
      patienceMs,
      async () => (await installation())?.fhirScopes.includes(addedScope) === true,
    );
    assertScopes(await open(page), `${scopes} ${addedScope}`);
    assertScopes(await refresh(opened), scopes);
    assert.equal((await installation())?.connection?.clientId, clientId, "it is the same client");
    await page.close();
  });

  test("can't sign in as the client of another vendor, or read its connection", async () => {
    const other = await subscribe(otherSlug);
    await eventually(
      "the other app is connected",
      patienceMs,
      async () => (await installation(otherSlug))?.connection?.status === "ready",
    );
    app.claimedClientId = (await installation(otherSlug))?.connection?.clientId ?? assert.fail();
    const page = await openPage();
    await page.goto(await launchUrl());
    await assertNotSignedIn(page);
    app.claimedClientId = undefined;
    await page.close();
    const path = `/subscriptions/${other.id}/connection`;
    const refused = await sendApiRequest(stack.marketplaceUrl, path, tokenOf(developer));
    assert.equal(refused.status, 404);
  });

  test("shares no launch with another app, whether or not it is used", async () => {
    const otherLaunchUrl = `${stack.demoAppUrl}/launch`;
    const [used, unused] = [await launchUrl(), await launchUrl()];
    const page = await openPage();
    await signIn(page, used);
    assert.equal((await readOutput(page)).patient, patientId);
    for (const url of [used, unused]) {
      await signIn(page, launchAt(otherLaunchUrl, url));
      await page.getByRole("heading", { name: "This launch can’t be used" }).waitFor();
      assert.ok(!(await page.content()).includes(patientId));
    }
    await signIn(page, unused);
    assert.equal((await readOutput(page)).error, "access_denied", "the other app has spent it");
    await page.close();
  });

  test("gets no launch once it is paused, and no token 60 seconds after", async () => {
    const earlier = await launchUrl();
    await change("pause", { reason: "NON_PAYMENT" });
    await becomes("paused");
    // From when the EHR knows of it: its responses may be used for 60 seconds.
    const pausedAt = performance.now();
    assert.equal((await launch()).status, 409);
    await eventually("the refresh is refused", 2 * patienceMs, async () => {
      const requestedAt = performance.now();
      const { error } = await refresh(opened);
      if (error === "invalid_grant") return true;
      assert.equal(error, undefined);
      assert.ok(requestedAt - pausedAt < 60_000, "a token was issued later than 60 s after the pause");
      // Polls slowly: each refresh signs two tokens.
      await delay(500);
      return false;
    });
    const page = await openPage();
    await page.goto(earlier);
    assert.equal((await readOutput(page)).error, "access_denied", "a launch from before the pause is refused too");
    await page.close();
  });

  test("goes on with the same refresh token once it is resumed", async () => {
    await change("resume");
    await becomes("active");
    assertScopes(await refresh(opened), scopes);
  });

  test("has no client any more once the practice has cancelled", async () => {
    const cancelled = { method: "POST" } as const;
    await marketplace("riverside-admin", `/subscriptions/${subscription.id}/cancel`, cancelled);
    await eventually("the client is gone", patienceMs, async () => (await clientsOf(slug)).length === 0);
    assert.equal((await refresh(opened)).error, "invalid_client");
    assert.equal((await launch()).status, 404);
    app.claimedClientId = clientId;
    const page = await openPage();
    const iss = fhirBaseUrl(issuer, orgAlias);
    await page.goto(`${app.launchUrl}?${new URLSearchParams({ iss, launch: "any" }).toString()}`);
    await assertNotSignedIn(page);
    assert.equal((await clientsOf(otherSlug)).length, 1, "other apps keep theirs");
  });
});
