import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { InstallationDto, NoticePage, PricingPlanDto, SubscriptionDto } from "@ehr-marketplace/contracts";
import { type Persona, personaNames, requestAccessToken } from "@ehr-marketplace/dev/identity-provider";
import { cleanUpAfter, eventually } from "@ehr-marketplace/test-kit";
import { assertAccessible } from "@ehr-marketplace/tests/support/assert-accessible";
import { type RequestOptions, sendApiRequest, sendRequest } from "@ehr-marketplace/tests/support/callers";
import { launchChromium } from "@ehr-marketplace/tests/support/chromium";
import {
  assertNoSidewaysScroll,
  assertStaleAndFailed,
  openAs,
  openConsole,
  tabTo,
} from "@ehr-marketplace/tests/support/console";
import { createPublisher } from "@ehr-marketplace/tests/support/publisher";
import { type Stack, startStack } from "@ehr-marketplace/tests/support/stack";
import type { Browser, Page } from "playwright-core";

const orgAlias = "riverside-clinic";
const riverside = `/practice/${orgAlias}`;
const developer = "juniper-developer";
/** One app that works and asks for more later, and one whose vendor doesn't say how it signs in. */
const [growth, silent] = [
  { slug: "juniper-growth", name: "Juniper Growth" },
  { slug: "juniper-silent", name: "Juniper Silent" },
];
const scopes = "launch openid fhirUser patient/Observation.rs";
const addedScope = "patient/MedicationRequest.rs";
const patientId = "pat-4711";
/** More than a page. */
const launches = 53;
const patienceMs = 120_000;
const signInReason = "The vendor has not said how the app signs in.";
const heading = (page: Page, name: string | RegExp) => page.getByRole("heading", { name });

/** The whole stack, as `npm run dev` starts it. Each test continues from the previous one. */
describe("what a practice is told, agrees to and can look up", () => {
  const cleanUp = cleanUpAfter();
  const tokens = new Map<Persona, string>();
  let stack: Stack;
  let browser: Browser;
  let subscribed: Record<string, SubscriptionDto>;

  const tokenOf = (persona: Persona): string => tokens.get(persona) ?? assert.fail(persona);
  async function marketplace<T>(persona: Persona, path: string, options?: RequestOptions): Promise<T> {
    const response = await sendApiRequest(stack.marketplaceUrl, path, tokenOf(persona), options);
    const body = (await response.json()) as T;
    assert.ok(response.ok, `${path}: ${response.status} ${JSON.stringify(body)}`);
    return body;
  }
  async function ehr<T>(persona: Persona, path: string, options: RequestOptions = {}): Promise<T | null> {
    const response = await sendRequest(`${stack.ehrUrl}/api/app-installations/${path}`, tokenOf(persona), options);
    return ((await response.json()) as { data: T | null }).data;
  }
  const connectionOf = async (slug: string): Promise<string | undefined> =>
    (await ehr<InstallationDto>("riverside-admin", slug))?.connection?.status;

  async function subscribe(slug: string): Promise<SubscriptionDto> {
    const [plan] = await marketplace<PricingPlanDto[]>("riverside-admin", `/apps/${slug}/pricing`);
    return marketplace("riverside-admin", "/subscriptions", {
      body: { appSlug: slug, orgAlias, pricingPlanId: plan?.id },
    });
  }

  before(async () => {
    [stack, browser] = await Promise.all([startStack(cleanUp), launchChromium(cleanUp)]);
    const issuer = stack.issuer;
    for (const persona of personaNames) tokens.set(persona, await requestAccessToken(issuer, persona));
    const vendor = {
      name: "Juniper Labs",
      websiteUrl: "https://juniper.example",
      commissionPercent: 20,
      supportEmail: "help@juniper.example",
      securityContact: "security@juniper.example",
    };
    await marketplace("operator", "/admin/vendors/juniper-labs", { method: "PUT", body: vendor });
    const publisher = createPublisher(stack.marketplaceUrl, tokenOf, developer);
    await publisher.publish(growth.slug, { name: growth.name, fhirScopes: scopes });
    await publisher.create(silent.slug, { name: silent.name });
    await publisher.edit(silent.slug, { oauth: null });
    await publisher.approve(await publisher.submit(silent.slug));
    subscribed = { [growth.slug]: await subscribe(growth.slug), [silent.slug]: await subscribe(silent.slug) };
    await eventually("the EHR has connected one and not the other", patienceMs, async () => {
      const found = await Promise.all([connectionOf(growth.slug), connectionOf(silent.slug)]);
      return found.join() === "ready,failed";
    });
    for (let launch = 0; launch < launches; launch += 1) {
      await ehr("riverside-member", `${growth.slug}/launch`, { body: { patientId } });
    }
    await publisher.edit(growth.slug, {
      version: "1.1.0",
      releaseNotes: "Considers medication.",
      fhirScopes: `${scopes} ${addedScope}`,
      scopePurposes: { [addedScope]: "Medication changes growth" },
    });
    await publisher.approve(await publisher.submit(growth.slug));
    await eventually("both notices are there", patienceMs, async () => {
      const { items } = await marketplace<NoticePage>("riverside-admin", `/organisations/${orgAlias}/notices`);
      return new Set(items.map(({ kind }) => kind)).size === 2;
    });
  });

  const idOf = (slug: string): string => subscribed[slug]?.id ?? assert.fail(slug);

  test("an app that can't sign in says why and what to do, in the list and in the details", async () => {
    const { page, context, mistakes } = await openConsole(browser, stack);
    await openAs(page, "riverside-admin", `${riverside}/apps`, stack);
    const row = page.getByRole("row").filter({ hasText: silent.name });
    await row.getByText("Installed; can't sign in").waitFor();
    await row.getByText(`Reason: ${signInReason}`).waitFor();
    await row.getByText("Tell your EHR's operator the reason").waitFor();
    await page.getByRole("row").filter({ hasText: growth.name }).getByText("Ready in the EHR").waitFor();
    await assertAccessible(page, "installed apps");
    await row.getByRole("link", { name: silent.name, exact: true }).click();
    const drawer = page.getByRole("dialog", { name: silent.name });
    await drawer.getByText(`Reason: ${signInReason}`).waitFor();
    await drawer.getByText(/Your EHR reported this on .* UTC/).waitFor();
    await assertAccessible(page, "details of a failed connection");

    // Without the EHR, it is what the EHR has told the marketplace.
    await page.route("**/bff/ehr/**", (route) =>
      route.fulfill({
        status: 503,
        contentType: "application/json",
        body: '{"success":false,"message":"down","data":null}',
      }),
    );
    await page.reload();
    await drawer.getByText("Your EHR can't be asked at the moment. This is what it reported last.").waitFor();
    await drawer.getByText(`Reason: ${signInReason}`).waitFor();

    // An app that the EHR hasn't installed yet.
    await page.unroute("**/bff/ehr/**");
    await page.route("**/bff/ehr/app-installations", async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { data: InstallationDto[] };
      const data = body.data.filter(({ appSlug }) => appSlug !== growth.slug);
      await route.fulfill({ response, json: { ...body, data } });
    });
    await page.goto(`${riverside}/apps`);
    const waiting = page.getByRole("row").filter({ hasText: growth.name });
    await waiting.getByText("Waiting for the EHR").waitFor();
    await waiting.getByText("Your EHR installs it by itself").waitFor();
    assert.deepEqual(mistakes, []);
    await context.close();
  });

  test("notices in plain words lead to what they are about, and are marked as read", async () => {
    const { page, context, mistakes } = await openConsole(browser, stack);
    await openAs(page, "riverside-admin", riverside, stack);
    await page.getByRole("link", { name: "Notices (2)" }).waitFor();
    await page.getByText(`${growth.name} asks for more access`).waitFor();
    await assertAccessible(page, "overview with notices");
    await page.getByRole("link", { name: "All notices" }).click();
    await heading(page, "Notices").first().waitFor();
    await page.getByText("Your EHR reports that the app can't sign in").waitFor();
    assert.ok(!(await page.locator("#content").innerText()).includes("pendingScopes"));

    await page.getByRole("link", { name: `See the reason: ${silent.name} can't sign in` }).click();
    await page.getByRole("dialog", { name: silent.name }).getByText(`Reason: ${signInReason}`).waitFor();
    await page.goBack();

    await page.getByRole("checkbox", { name: "Only unread ones" }).check();
    await page.waitForURL(/[?&]unread=true/);
    await page.getByRole("button", { name: `Mark as read: ${silent.name} can't sign in` }).click();
    const marked = page.getByText(`Marked as read for everybody at your practice: ${silent.name} can't sign in`);
    await marked.waitFor();
    await page.locator('[role="status"]:focus').waitFor();
    await page.getByRole("link", { name: "Notices (1)" }).waitFor();
    await page.getByRole("button", { name: `Mark as read: ${growth.name} asks for more access` }).click();
    await heading(page, "No unread notices").waitFor();
    await page.getByRole("link", { name: "Notices", exact: true }).waitFor();
    await assertAccessible(page, "no unread notices");
    await page.getByRole("button", { name: "Clear filters" }).click();
    await page
      .getByText(/^Read .* UTC$/)
      .first()
      .waitFor();
    assert.equal(new URL(page.url()).search, "");

    await page.getByLabel("Email address").fill("office");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Enter one email address").waitFor();
    await assertAccessible(page, "a wrong address");
    await page.getByLabel("Email address").fill("office@riverside.example");
    await page.getByRole("checkbox", { name: "An app can't sign in" }).uncheck();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The settings of mails are saved.").waitFor();
    await page
      .getByText("office@riverside.example isn't confirmed yet. Open the link that we emailed to it.")
      .waitFor();
    await assertAccessible(page, "an address that isn't confirmed");
    await page.reload();
    assert.equal(await page.getByLabel("Email address").inputValue(), "office@riverside.example");
    assert.equal(await page.getByRole("checkbox", { name: "An app can't sign in" }).isChecked(), false);
    assert.deepEqual(mistakes, []);
    await context.close();
  });

  test("a member sees notices, connections and added access, and can't act", async () => {
    const { page, context, mistakes } = await openConsole(browser, stack);
    await openAs(page, "riverside-member", `${riverside}/notices`, stack);
    await page.getByText("its admins mark notices as read").waitFor();
    await page.getByText("office@riverside.example isn't confirmed yet.").waitFor();
    await page.getByText("Not mailed: An app can't sign in.").waitFor();
    assert.equal(await page.getByRole("button", { name: /^(Mark as read|Save)/ }).count(), 0);
    assert.equal(await page.getByRole("link", { name: "Audit" }).count(), 0);
    await assertAccessible(page, "notices for a member");
    await page.goto(`${riverside}/subscriptions?open=${idOf(growth.slug)}`);
    const drawer = page.getByRole("dialog", { name: growth.name });
    await drawer.getByText("An admin of your practice can agree to it.").waitFor();
    assert.equal(await drawer.getByRole("button", { name: "Review and agree" }).count(), 0);
    for (const [path, title] of [
      ["audit", "Only admins read the audit log"],
      [`apps/${growth.slug}/launches`, "Only admins see who has opened an app"],
    ] as const) {
      await page.goto(`${riverside}/${path}`);
      await heading(page, title).waitFor();
      await assertAccessible(page, `${path} for a member`);
    }
    assert.deepEqual(mistakes, []);
    await context.close();
  });

  test("an admin agrees to added access, by keyboard alone in a window of 320 pixels", async () => {
    const { page, context, mistakes } = await openConsole(browser, stack, { viewport: { width: 320, height: 640 } });
    await openAs(page, "riverside-admin", `${riverside}/subscriptions`, stack);
    await page.getByText("Asks for more access").waitFor();
    await assertNoSidewaysScroll(page, "subscriptions");
    await tabTo(page, page.getByRole("button", { name: growth.name }));
    await page.keyboard.press("Enter");
    const drawer = page.getByRole("dialog", { name: growth.name });
    await drawer.getByText(`${growth.name} asks for more access`).waitFor();
    await drawer.getByText("Prescriptions").first().waitFor();
    await drawer.getByText("Medication changes growth").first().waitFor();
    await assertNoSidewaysScroll(page, "added access");
    await assertAccessible(page, "added access");
    await tabTo(page, drawer.getByRole("button", { name: "Review and agree" }));
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: `Agree to more access for ${growth.name}?` });
    await dialog.getByText(`Riverside Clinic lets ${growth.name} do this too`).waitFor();
    await dialog.getByText("Prescriptions").waitFor();
    assert.equal(await dialog.getByText(addedScope).isVisible(), false);
    await tabTo(page, dialog.locator("summary"));
    await page.keyboard.press("Enter");
    await dialog.getByText(addedScope).waitFor();
    await assertNoSidewaysScroll(page, "agreeing");
    await assertAccessible(page, "agreeing");
    await tabTo(page, dialog.getByRole("button", { name: "Agree", exact: true }));
    await page.keyboard.press("Enter");
    await drawer.getByText(`Your practice has agreed to the added access of ${growth.name}.`).waitFor();
    await drawer.getByText(`${growth.name} asks for more access`).waitFor({ state: "hidden" });
    await drawer.locator(":focus").waitFor();
    await drawer.getByText("Agreed to added access").waitFor();
    const agreed = await marketplace<SubscriptionDto>("riverside-admin", `/subscriptions/${idOf(growth.slug)}`);
    assert.equal(agreed.pendingScopes, "");
    assert.ok(agreed.fhirScopes.split(" ").includes(addedScope));
    assert.deepEqual(mistakes, []);
    await context.close();
  });

  test("launches are listed page by page, without patients", async () => {
    const { page, context, mistakes } = await openConsole(browser, stack);
    const bodies: Promise<string>[] = [];
    page.on("response", (response) => {
      if (response.url().includes("/launches")) bodies.push(response.text());
    });
    await openAs(page, "riverside-admin", `${riverside}/apps/${growth.slug}`, stack);
    await page.getByRole("link", { name: "Launches" }).click();
    await heading(page, `Launches of ${growth.name}`).waitFor();
    const rows = page.getByRole("row").filter({ hasText: "In the EHR, with the chart that was open" });
    await rows.first().getByText("riverside-member").waitFor();
    assert.equal(await rows.count(), 50);
    await page.getByRole("button", { name: "Older" }).click();
    await page.waitForURL(/[?&]after=/);
    await eventually("the second page is shown", patienceMs, async () => (await rows.count()) === launches - 50);
    await page.reload();
    await rows.first().waitFor();
    assert.equal(await rows.count(), launches - 50);
    await page.getByRole("button", { name: "Back to the newest" }).click();
    await eventually("the first page is shown", patienceMs, async () => (await rows.count()) === 50);
    assert.ok(!(await page.content()).includes(patientId));
    const sent = await Promise.all(bodies);
    assert.ok(sent.length >= 3);
    assert.ok(sent.every((body) => !body.includes(patientId)));
    await page.goto(`${riverside}/apps/${silent.slug}/launches`);
    await heading(page, "Nobody has opened it yet").waitFor();
    await assertAccessible(page, "no launches");
    await page.goto(`${riverside}/apps/northwind-scribe/launches`);
    await heading(page, "This app was never installed in your EHR").waitFor();
    await assertAccessible(page, "launches of an app that isn't installed");
    assert.deepEqual(mistakes, []);
    await context.close();
  });

  test("the audit log is filtered by day, by what happened and by app, and printed", async () => {
    const { page, context, mistakes } = await openConsole(browser, stack);
    await openAs(page, "riverside-admin", `${riverside}/subscriptions?open=${idOf(growth.slug)}`, stack);
    const drawer = page.getByRole("dialog", { name: growth.name });
    await drawer.getByRole("link", { name: "All of it in the audit log" }).click();
    await heading(page, "Audit").waitFor();
    const entries = page.locator("table.audit tbody tr");
    await entries.filter({ hasText: "Agreed to added access" }).waitFor();
    assert.equal(await entries.filter({ hasText: silent.name }).count(), 0);
    await page.getByLabel("What happened").selectOption({ label: "Agreed to added access" });
    await page.waitForURL(/[?&]action=subscription\.consent/);
    await page.getByText("1 change shown").waitFor();
    const entry = entries.first();
    await entry.getByText("An admin of your practice").waitFor();
    await entry.getByText(/UTC$/).waitFor();
    await entry.getByRole("button", { name: "Show details of “Agreed to added access”" }).click();
    await page.getByText('"fhirScopes":').first().waitFor();
    await assertAccessible(page, "details of an entry");

    const today = new Date().toISOString().slice(0, 10);
    await page.getByLabel("To (UTC, included)").fill(today);
    await page.getByText("1 change shown").waitFor();
    await page.getByLabel("To (UTC, included)").fill("2020-01-01");
    await heading(page, "No change matches").waitFor();
    await page.getByLabel("From (UTC)").fill("2020-01-02");
    await heading(page, "From is later than To").waitFor();
    await assertAccessible(page, "a reversed range of days");
    await page.getByRole("button", { name: "Clear filters" }).last().click();
    await entries.filter({ hasText: "Mails about notices changed" }).waitFor();
    await entries.filter({ hasText: silent.name }).first().waitFor();
    assert.equal(new URL(page.url()).search, "");

    await page.emulateMedia({ media: "print" });
    assert.equal(await page.getByRole("link", { name: "Subscriptions" }).isVisible(), false);
    assert.equal(await page.getByLabel("What happened").isVisible(), false);
    await page.getByText("Audit log of Riverside Clinic").waitFor();
    assert.equal(await entries.first().isVisible(), true);
    assert.deepEqual(mistakes, []);
    await context.close();
  });

  const screens = [
    {
      path: "notices",
      api: "**/bff/marketplace/organisations/*/notices?*",
      shown: `${growth.name} asks for more access`,
      noMatch: { search: "unread=true", title: "No unread notices" },
    },
    {
      path: `apps/${growth.slug}/launches`,
      api: "**/bff/ehr/app-installations/*/launches?*",
      shown: "In the EHR, with the chart that was open",
    },
    {
      path: "audit",
      api: "**/bff/marketplace/organisations/*/audit?*",
      shown: "Agreed to added access",
      noMatch: { search: "to=2020-01-01", title: "No change matches" },
    },
  ];

  test("every state of each list is accessible, and fits 320 pixels", async () => {
    const { page, context, mistakes } = await openConsole(browser, stack);
    await page.clock.install();
    await openAs(page, "two-practices", `${riverside}/apps`, stack);
    for (const { path, api, shown, noMatch } of screens) {
      const shownText = page.locator("#content").getByText(shown).and(page.locator(":not(option)")).first();
      const held = Promise.withResolvers<undefined>();
      await page.route(api, async (route) => {
        await held.promise;
        await route.continue();
      });
      await page.goto(`${riverside}/${path}`);
      await page.locator('[aria-busy="true"]').first().waitFor();
      await assertAccessible(page, `${path}: loading`);
      held.resolve(undefined);
      await shownText.waitFor();
      await page.unroute(api);
      await assertAccessible(page, `${path}: list`);
      await page.setViewportSize({ width: 320, height: 640 });
      await page.reload();
      await shownText.waitFor();
      await assertNoSidewaysScroll(page, path);
      await assertAccessible(page, `${path}: list on a phone`);
      await page.setViewportSize({ width: 1280, height: 720 });

      await assertStaleAndFailed(page, api, path);
      await page.getByRole("button", { name: "Try again" }).click();
      await shownText.waitFor();
      if (noMatch === undefined) continue;
      await page.goto(`${riverside}/${path}?${noMatch.search}`);
      await heading(page, noMatch.title).waitFor();
      await assertAccessible(page, `${path}: no match`);
    }
    await page.goto("/practice/hilltop-family-practice/notices");
    await heading(page, "No notices yet").waitFor();
    await assertAccessible(page, "no notices");
    assert.deepEqual(mistakes, []);
    await context.close();
  });
});
