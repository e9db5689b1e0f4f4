import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import type { AppDto, InstallationDto, LaunchDto, PricingPlanDto, SubscriptionDto } from "@ehr-marketplace/contracts";
import { type Persona, requestAccessToken } from "@ehr-marketplace/dev/identity-provider";
import { cleanUpAfter, eventually } from "@ehr-marketplace/test-kit";
import { type RequestOptions, sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import { launchChromium } from "@ehr-marketplace/tests/support/chromium";
import { type DevStack, prepareStackData, startDevStack } from "@ehr-marketplace/tests/support/dev-stack";
import type { Browser, Page } from "playwright-core";
import { type Collector, findTablesMentioning, mentions, startCollector } from "./find-mentions.ts";

const orgAlias = "riverside-clinic";
const appSlug = "northwind-scribe";

/** From the catalog to the app in a clinician's browser, and to its cancellation. Each test continues from the previous one. */
describe("an app in a practice's EHR", () => {
  const cleanUp = cleanUpAfter();
  const [patientId, encounterId] = [randomUUID(), randomUUID()];
  let collector: Collector;
  let stack: DevStack;
  let browser: Browser;
  let subscription: SubscriptionDto;

  before(async () => {
    collector = await startCollector(cleanUp);
    // Enable every output that could leak a patient's id.
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, LOG_LEVEL: "trace" };
    stack = await startDevStack(cleanUp, { environment, data: await prepareStackData(cleanUp) });
    browser = await launchChromium(cleanUp);
  });

  const tokenOf = (persona: Persona): Promise<string> => requestAccessToken(stack.issuer, persona);

  async function marketplace<T>(persona: Persona, path: string, options?: RequestOptions): Promise<T> {
    const response = await sendApiRequest(stack.marketplaceUrl, path, await tokenOf(persona), options);
    assert.ok(response.ok, `${path}: ${response.status}`);
    return (await response.json()) as T;
  }

  interface EhrResponse<T> {
    status: number;
    message: string;
    data: T;
  }
  async function ehr<T>(
    persona: Persona,
    path: string,
    options: { method?: string; body?: unknown } = {},
  ): Promise<EhrResponse<T>> {
    const { body, method = body === undefined ? "GET" : "POST" } = options;
    const response = await fetch(`${stack.ehrUrl}/api${path}`, {
      method,
      headers: {
        authorization: `Bearer ${await tokenOf(persona)}`,
        "x-org-alias": orgAlias,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, ...((await response.json()) as { message: string; data: T }) };
  }
  const isInstalled = async (): Promise<boolean> =>
    (await ehr<boolean>("riverside-member", `/app-installations/${appSlug}/installed`)).data;
  const getInstallation = (): Promise<EhrResponse<InstallationDto>> =>
    ehr<InstallationDto>("riverside-admin", `/app-installations/${appSlug}`);
  const launch = (body: object): Promise<EhrResponse<LaunchDto>> =>
    ehr<LaunchDto>("riverside-member", `/app-installations/${appSlug}/launch`, { body });

  async function subscribe(): Promise<void> {
    const [plan] = await marketplace<PricingPlanDto[]>("riverside-admin", `/apps/${appSlug}/pricing`);
    const body = { appSlug, orgAlias, pricingPlanId: plan?.id };
    subscription = await marketplace<SubscriptionDto>("riverside-admin", "/subscriptions", { body });
  }

  /** Opens the launch URL in the browser, as the EHR does, and signs the clinician in. */
  async function openLaunch(page: Page, launchUrl: string, who = "Tom Whitfield"): Promise<void> {
    await page.goto(launchUrl);
    await page.getByRole("button", { name: who }).click();
    await page.waitForURL(`${stack.demoAppUrl}/**`);
  }

  test("is found in the catalog", async () => {
    const found = await marketplace<AppDto[]>("riverside-admin", "/apps/search?q=scribe&limit=1");
    assert.deepEqual([found[0]?.slug, found[0]?.smartLaunchUrl], [appSlug, `${stack.demoAppUrl}/launch`]);
    assert.equal(await isInstalled(), false);
    assert.equal((await getInstallation()).status, 404);
  });

  test("is installed once the practice has subscribed", async () => {
    await subscribe();
    await eventually("the app is installed", 15_000, isInstalled);
    const list = await ehr<InstallationDto[]>("riverside-member", "/app-installations");
    assert.deepEqual(
      list.data.map(({ appSlug: slug, status, subscriptionId }) => [slug, status, subscriptionId]),
      [[appSlug, "active", subscription.id]],
    );
  });

  test("is configured, and its secrets are not returned to the practice", async () => {
    const put = (body: object): Promise<EhrResponse<InstallationDto>> =>
      ehr<InstallationDto>("riverside-admin", `/app-installations/${appSlug}/config`, { method: "PUT", body });
    const config = { language: "es-US", apiKey: "the practice's own" };
    await eventually("the EHR has the app's schema", 15_000, async () => (await put(config)).status === 200);
    assert.equal((await put({ language: "tlh" })).status, 400);
    assert.deepEqual((await getInstallation()).data.config, { language: "es-US", apiKey: null });
    const secrets = await ehr<object>("ehr-service", `/internal/app-installations/${appSlug}/config`);
    assert.deepEqual(secrets.data, config);
  });

  test("is launched in a browser and shows the patient of the open chart", async () => {
    const { status, data } = await launch({ patientId, encounterId });
    assert.equal(status, 200);
    const launchUrl = data.launchUrl ?? "";
    const page = await browser.newPage({ viewport: { width: 1180, height: 760 } });
    const [urls, consoleMessages]: [string[], string[]] = [[launchUrl], []];
    page.on("request", (request) => urls.push(request.url()));
    page.on("console", (message) => consoleMessages.push(message.text()));
    await openLaunch(page, launchUrl);
    await page.getByRole("heading", { name: "You’re connected" }).waitFor();
    const shown = async (id: string): Promise<string> => page.locator(`#${id}`).innerText();
    const expected = {
      patient: patientId,
      encounter: encounterId,
      user: "Tom Whitfield",
      practice: "Riverside Clinic",
    };
    for (const [id, text] of Object.entries(expected)) assert.equal(await shown(id), text);
    await page.reload();
    await page.getByText(patientId).waitFor();
    assert.deepEqual(consoleMessages, []);
    for (const url of [...urls, page.url()]) assert.ok(!mentions(url, patientId) && !mentions(url, encounterId), url);
    for (const { origin } of urls.map((url) => new URL(url))) {
      assert.ok([stack.demoAppUrl, stack.issuer].includes(origin), origin);
    }

    await openLaunch(page, launchUrl);
    await page.getByRole("heading", { name: "This launch can’t be used" }).waitFor();
    await page.getByText("Go back to the patient’s chart").waitFor();
    assert.ok(!mentions(await page.content(), patientId));
    await page.close();
  });

  test("opens only for the user who launched it, and not without a launch", async () => {
    const page = await browser.newPage();
    await openLaunch(page, (await launch({ patientId })).data.launchUrl ?? "", "Rosa Delgado");
    await page.getByRole("heading", { name: "This launch can’t be used" }).waitFor();
    for (const [url, heading] of [
      [`${stack.demoAppUrl}/launch?iss=https%3A%2F%2Felsewhere.example&launch=x`, "This EHR isn’t known here"],
      [`${stack.demoAppUrl}/launch`, "Open Northwind Scribe from a chart"],
      [`${stack.demoAppUrl}/?error=access_denied&error_description=call+0900`, "This launch can’t be used"],
    ] as const) {
      await page.goto(url);
      await page.getByRole("heading", { name: heading }).waitFor();
    }
    assert.doesNotMatch(await page.locator("main").innerText(), /0900/);
    await page.close();
  });

  test("can't be launched while it is paused, and can after it is resumed", async () => {
    await marketplace("billing", `/subscriptions/${subscription.id}/pause`, { body: { reason: "NON_PAYMENT" } });
    await eventually("it is paused", 15_000, async () => (await getInstallation()).data.status === "paused");
    const refused = await launch({ patientId });
    assert.equal(refused.status, 409);
    assert.ok(!mentions(JSON.stringify(refused), patientId));
    assert.equal(await isInstalled(), true);
    await marketplace("billing", `/subscriptions/${subscription.id}/resume`, { method: "POST" });
    await eventually("it is active", 15_000, async () => (await getInstallation()).data.status === "active");
    assert.equal((await launch({ patientId, launchType: "native" })).data.launchType, "native");
  });

  test("is refused without repeating the patient's id", async () => {
    for (const body of [
      { patientId: `${patientId}_` },
      { patientId, ward: patientId },
      { patientId, launchType: patientId },
    ]) {
      const refused = await launch(body);
      assert.equal(refused.status, 400);
      assert.ok(!mentions(JSON.stringify(refused), patientId), refused.message);
    }
  });

  test("is removed once the practice has cancelled", async () => {
    await marketplace("riverside-admin", `/subscriptions/${subscription.id}/cancel`, { method: "POST" });
    await eventually("the app is removed", 15_000, async () => !(await isInstalled()));
    assert.equal((await getInstallation()).status, 404);
    assert.equal((await launch({ patientId })).status, 404);
    assert.deepEqual((await ehr<InstallationDto[]>("riverside-member", "/app-installations")).data, []);
  });

  test("keeps its configuration when the practice subscribes again", async () => {
    await subscribe();
    await eventually("the app is installed", 15_000, isInstalled);
    const { data } = await getInstallation();
    assert.deepEqual([data.subscriptionId, data.status], [subscription.id, "active"]);
    assert.deepEqual(data.config, { language: "es-US", apiKey: null });
  });

  test("leaves the patient's id in the launch log and nowhere else", async () => {
    const [databases, tables]: [string[], string[]] = [[], []];
    for (const [url = "", name = ""] of stack.output().matchAll(/postgres\S+\/(marketplace|ehr)$/gm)) {
      databases.push(name);
      for (const id of [patientId, encounterId]) {
        for (const table of await findTablesMentioning(url, id)) tables.push(`${name}: ${table}`);
      }
    }
    assert.deepEqual(databases, ["marketplace", "ehr"]);
    assert.deepEqual(tables, ["ehr: public.launches", "ehr: public.launches"]);

    const metrics = await Promise.all(
      [stack.marketplaceUrl, stack.ehrUrl, stack.workerUrl].map(async (url) => (await fetch(`${url}/metrics`)).text()),
    );
    // The services flush their traces when they stop.
    stack.signal("SIGTERM");
    await eventually("the stack has stopped", 20_000, () => /^stopped$/m.test(stack.output()));
    const outputs = { metrics: metrics.join("\n"), logs: stack.output(), traces: collector.received() };
    for (const [name, text] of Object.entries(outputs)) {
      assert.ok(text.includes("/api/app-installations/:appSlug/launch"), `${name} mention launches`);
      assert.ok(!mentions(text, patientId) && !mentions(text, encounterId), name);
    }
  });
});
