import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { type Persona, requestAccessToken } from "@ehr-marketplace/dev/identity-provider";
import { cleanUpAfter, eventually } from "@ehr-marketplace/test-kit";
import { assertAccessible } from "@ehr-marketplace/tests/support/assert-accessible";
import { sendRequest } from "@ehr-marketplace/tests/support/callers";
import { launchChromium } from "@ehr-marketplace/tests/support/chromium";
import {
  assertNoSidewaysScroll,
  assertStaleAndFailed,
  choosePersona,
  openAs,
  openConsole,
  tabTo,
} from "@ehr-marketplace/tests/support/console";
import { createPublisher } from "@ehr-marketplace/tests/support/publisher";
import { type Stack, startStack } from "@ehr-marketplace/tests/support/stack";
import type { Browser, Page } from "playwright-core";

const riverside = "/practice/riverside-clinic";
const scribe = "Northwind Scribe";
/** An app with an agreement, and with settings that Northwind Scribe doesn't have. */
const pact = { slug: "juniper-pact", name: "Juniper Pact" };
const pactSchema = {
  type: "object",
  properties: {
    step: { type: "number", title: "Step (mg)", maximum: 50 },
    token: { type: "string", title: "Access token", writeOnly: true },
  },
  additionalProperties: false,
};

/** Fills in the form for subscribing, except for the confirmation. */
async function agree(page: Page, practice: string): Promise<void> {
  await page.getByRole("checkbox", { name: `I agree to this access for ${practice}` }).check();
  await page.getByRole("button", { name: "Review and subscribe" }).click();
}

const installed = (page: Page) => page.getByText("Installed in your EHR", { exact: true });

/** The whole stack, as `npm run dev` starts it. Each test continues from the previous one. */
describe("the console in a browser", () => {
  const cleanUp = cleanUpAfter();
  let stack: Stack;
  let browser: Browser;
  before(async () => {
    [stack, browser] = await Promise.all([startStack(cleanUp), launchChromium(cleanUp)]);
  });

  test("from an app's page to a subscription that is installed, configured, paused and resumed", async () => {
    const { page, context, mistakes } = await openConsole(browser, stack);
    await page.goto("/apps/northwind-scribe");
    await page.getByRole("radio", { name: /^Practice/ }).check();
    await page.getByLabel(/Number of units|How many units/).fill("5");
    await page.getByRole("button", { name: "Calculate" }).click();
    await page.getByText("$420.00").first().waitFor();
    await page.getByRole("button", { name: "Subscribe", exact: true }).click();

    await page.getByRole("heading", { name: "Sign in to go on" }).waitFor();
    await page.getByText("This page is for members of a practice.").waitFor();
    await assertAccessible(page, "signed out");
    await page.getByRole("link", { name: "Sign in", exact: true }).click();
    await choosePersona(page, "riverside-admin");

    await page.getByRole("heading", { name: `Subscribe to ${scribe}` }).waitFor();
    assert.equal(await page.getByLabel("Number of units (clinician)").inputValue(), "5");
    await page.getByText("$420.00").first().waitFor();
    await assertAccessible(page, "subscribing");
    await page.getByRole("button", { name: "Review and subscribe" }).click();
    await page.getByText("Agree to the access to go on.").waitFor();
    await assertAccessible(page, "subscribing without agreement");
    await agree(page, "Riverside Clinic");
    const dialog = page.getByRole("dialog", { name: `Subscribe to ${scribe}?` });
    await dialog.getByText(`Riverside Clinic subscribes to ${scribe}, plan Practice.`).waitFor();
    await dialog.getByText("5 × $84.00 per clinician, per month").waitFor();
    await assertAccessible(page, "confirming");
    await dialog.getByRole("button", { name: "Subscribe" }).click();

    await installed(page).waitFor();
    await assertAccessible(page, "installed");
    await page.getByRole("link", { name: "Go to its settings" }).click();
    await configure(page);
    await page.getByRole("link", { name: "Subscriptions" }).click();
    await pauseAndResume(page);
    assert.deepEqual(mistakes, []);
    await context.close();
  });

  async function configure(page: Page): Promise<void> {
    await page.getByRole("heading", { name: `Settings of ${scribe}` }).waitFor();
    await page.getByLabel("Language of the note").selectOption("fr-CA");
    await page.getByText("No value is stored.").waitFor();
    await page.getByRole("button", { name: "Set", exact: true }).click();
    await page
      .locator(":focus")
      .and(page.getByLabel("API key", { exact: true }))
      .waitFor();
    await page.keyboard.type("a-secret-of-riverside");
    await assertAccessible(page, "settings");
    await page.getByRole("button", { name: "Save settings" }).click();
    await page.getByText("The settings are saved.").waitFor();
    await page.getByText("A value is stored. It is never shown.").waitFor();
    await page.reload();
    await page.getByText("A value is stored. It is never shown.").waitFor();
    assert.equal(await page.getByLabel("Language of the note").locator("option:checked").textContent(), "fr-CA");
    assert.ok(!(await page.content()).includes("a-secret-of-riverside"));
  }

  async function pauseAndResume(page: Page): Promise<void> {
    await page.getByRole("button", { name: scribe }).click();
    const drawer = page.getByRole("dialog", { name: scribe });
    await drawer.getByRole("heading", { name: "History" }).waitFor();
    await drawer.getByText("Subscribed", { exact: true }).waitFor();
    assert.match(page.url(), /[?&]open=/);
    await assertAccessible(page, "details");
    await drawer.getByRole("button", { name: "Pause" }).click();
    const pause = page.getByRole("dialog", { name: `Pause ${scribe}?` });
    await pause.getByText("Riverside Clinic", { exact: false }).waitFor();
    await assertAccessible(page, "pausing");
    await pause.getByRole("button", { name: "Pause" }).click();
    await drawer.getByText(`${scribe} is paused.`).waitFor();
    await drawer.getByText("Paused in the EHR", { exact: true }).waitFor();
    assert.equal(await drawer.getByText("Ready in the EHR", { exact: true }).count(), 0);
    await drawer.getByText("Paused: by your practice").waitFor();
    await drawer.getByRole("button", { name: "Resume" }).click();
    await page
      .getByRole("dialog", { name: `Resume ${scribe}?` })
      .getByRole("button", { name: "Resume" })
      .click();
    await drawer.getByText(`${scribe} is resumed.`).waitFor();
    await drawer.getByRole("button", { name: "Change plan" }).click();
    const plan = page.getByRole("dialog", { name: `Change the plan of ${scribe}` });
    await plan.getByLabel("Number of units (clinician)").fill("6");
    await plan.getByText("$504.00").first().waitFor();
    await assertAccessible(page, "changing the plan");
    await plan.getByRole("button", { name: "Change plan" }).click();
    await drawer.getByText(`The plan of ${scribe} is changed.`).waitFor();
    await drawer.getByRole("button", { name: "Cancel subscription" }).click();
    const cancel = page.getByRole("dialog", { name: `Cancel ${scribe}?` });
    await cancel.getByText("kept for 30 days").waitFor();
    await assertAccessible(page, "cancelling");
    await cancel.getByRole("button", { name: "Keep it" }).click();
    await cancel.waitFor({ state: "hidden" });
    await page.goBack();
    await drawer.waitFor({ state: "hidden" });
    await page.goForward();
    await drawer.waitFor();
  }

  test("a session that ends in the middle of a form loses nothing", async () => {
    const { page, context, mistakes } = await openConsole(browser, stack);
    await openAs(page, "riverside-admin", "/console/subscribe/pocket-phrasebook", stack);
    await page.getByRole("heading", { name: "Subscribe to Pocket Phrasebook" }).waitFor();
    await agree(page, "Riverside Clinic");
    await context.clearCookies();
    await page.getByRole("dialog").getByRole("button", { name: "Subscribe" }).click();
    const ended = page.getByRole("dialog", { name: "Your session has ended" });
    await ended.waitFor();
    await assertAccessible(page, "the session has ended");
    const [tab] = await Promise.all([
      context.waitForEvent("page"),
      ended.getByRole("link", { name: "Sign in in a new tab" }).click(),
    ]);
    await choosePersona(tab, "riverside-admin");
    await tab.getByRole("heading", { name: "You are signed in" }).waitFor();
    await assertAccessible(tab, "signed in");
    // The request that had waited is sent by itself.
    await page.getByRole("heading", { name: "Pocket Phrasebook is subscribed" }).waitFor();
    await page.goto(`${riverside}/subscriptions`);
    await page.getByText("2 shown").waitFor();
    assert.deepEqual(mistakes, []);
    await context.close();
  });

  test("what one has entered isn't sent when somebody else has signed in meanwhile", async () => {
    const { page, context, mistakes } = await openConsole(browser, stack);
    await openAs(page, "riverside-admin", "/console/subscribe/village-circle", stack);
    await page.getByRole("heading", { name: "Subscribe to Village Circle" }).waitFor();
    await agree(page, "Riverside Clinic");
    await context.clearCookies();
    await page.getByRole("dialog").getByRole("button", { name: "Subscribe" }).click();
    const [tab] = await Promise.all([
      context.waitForEvent("page"),
      page.getByRole("link", { name: "Sign in in a new tab" }).click(),
    ]);
    await choosePersona(tab, "hilltop-admin");
    const agreement = page.getByRole("checkbox", { name: "I agree to this access for Hilltop Family Practice" });
    await agreement.waitFor();
    assert.equal(await agreement.isChecked(), false);
    assert.deepEqual(mistakes, []);
    await context.close();
  });

  test("a practice's first subscription by keyboard alone, in a window of 320 pixels", async () => {
    const { page, context, mistakes } = await openConsole(browser, stack, { viewport: { width: 320, height: 640 } });
    await openAs(page, "hilltop-admin", "/console", stack);
    await page.getByRole("heading", { name: "Your practice has no apps yet" }).waitFor();
    await assertNoSidewaysScroll(page, "overview");
    await page.goto("/console/subscribe/northwind-referrals");
    const agreement = page.getByRole("checkbox", { name: /I agree/ });
    await tabTo(page, agreement);
    await page.keyboard.press("Space");
    await assertNoSidewaysScroll(page, "subscribing");
    const price = await page.getByRole("heading", { name: "What you pay" }).boundingBox();
    const agreed = await agreement.boundingBox();
    assert.ok(price !== null && agreed !== null && price.y < agreed.y, "the price comes before what one agrees to");
    await tabTo(page, page.getByRole("button", { name: "Review and subscribe" }));
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Hilltop Family Practice subscribes").waitFor();
    await assertNoSidewaysScroll(page, "confirming");
    await dialog.getByRole("button", { name: "Subscribe" }).and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Enter");
    await installed(page).waitFor();
    await page.locator("#content:focus").waitFor();
    await assertNoSidewaysScroll(page, "installed");
    await tabTo(page, page.getByRole("link", { name: "Show the subscription" }));
    await page.keyboard.press("Enter");
    const row = page.getByRole("button", { name: "Northwind Referrals" });
    await tabTo(page, row);
    await assertNoSidewaysScroll(page, "subscriptions");
    await assertAccessible(page, "subscriptions on a phone");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Northwind Referrals" }).waitFor();
    await assertNoSidewaysScroll(page, "details");
    await page.keyboard.press("Escape");
    await row.and(page.locator(":focus")).waitFor();
    assert.deepEqual(mistakes, []);
    await context.close();
  });

  test("every state of a list is accessible", async () => {
    const { page, context, mistakes } = await openConsole(browser, stack);
    await page.clock.install();
    await openAs(page, "two-practices", `${riverside}/subscriptions`, stack);
    await page.getByRole("button", { name: scribe }).waitFor();
    await page.getByText("Installed").or(page.getByText("Ready in the EHR")).first().waitFor();
    await assertAccessible(page, "list");
    await page.getByLabel("Search apps").fill("zzz");
    await page.getByRole("heading", { name: "No subscription matches" }).waitFor();
    await assertAccessible(page, "no match");
    await page.getByRole("button", { name: "Clear filters" }).last().click();
    await page.getByRole("button", { name: scribe }).waitFor();

    await assertStaleAndFailed(page, "**/bff/marketplace/subscriptions?*", "subscriptions");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("button", { name: scribe }).waitFor();

    for (const path of [riverside, `${riverside}/apps`, `${riverside}/apps/northwind-scribe`, `${riverside}/nowhere`]) {
      await page.goto(path);
      await page
        .getByRole("heading", { level: 1 })
        .or(page.getByRole("heading", { level: 2 }))
        .first()
        .waitFor();
      await assertAccessible(page, path);
    }
    await page.goto(riverside);
    await page.getByRole("button", { name: /^Riverside Clinic.*Switch practice$/ }).click();
    await page.getByRole("menuitem", { name: /Hilltop Family Practice/ }).waitFor();
    await assertAccessible(page, "switching the practice");
    await page.getByRole("menuitem", { name: /Hilltop Family Practice/ }).click();
    await page.getByText("You are a member of this practice").waitFor();
    await page.getByRole("link", { name: "Northwind Referrals" }).click();
    await page.getByRole("dialog", { name: "Northwind Referrals" }).waitFor();
    assert.equal(await page.getByRole("button", { name: "Cancel subscription" }).count(), 0);
    await assertAccessible(page, "details for a member");

    // The practice that was shown last, although it isn't the first one; and that if the stored one isn't the person's.
    const overview = page.getByRole("heading", { name: "Overview" });
    await page.goto(riverside);
    await overview.waitFor();
    await page.goto("/console");
    await page.waitForURL(`**${riverside}`);
    await overview.waitFor();
    await page.evaluate("localStorage.setItem('practice', 'lakeside-clinic')");
    await page.goto("/console");
    await page.waitForURL("**/practice/hilltop-family-practice");
    assert.deepEqual(mistakes, []);
    await context.close();
  });

  test("an app with an agreement is subscribed to, and configured with decimals and a secret that is kept and replaced", async () => {
    const tokenOf = await publishPact();
    const { page, context, mistakes } = await openConsole(browser, stack);
    await openAs(page, "riverside-admin", `/console/subscribe/${pact.slug}`, stack);
    await page.getByRole("link", { name: "Read the agreement (PDF)" }).waitFor();
    await agree(page, "Riverside Clinic");
    await page.getByText("Accept the agreement to go on.").waitFor();
    await assertAccessible(page, "subscribing without the agreement");
    await page.getByRole("checkbox", { name: "I accept the agreement for Riverside Clinic" }).check();
    await page.getByRole("button", { name: "Review and subscribe" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Subscribe" }).click();
    await installed(page).waitFor();
    await page.getByRole("link", { name: "Go to its settings" }).click();

    const step = page.getByLabel("Step (mg)");
    const token = page.getByLabel("Access token", { exact: true });
    const save = async (): Promise<void> => {
      await page.getByRole("button", { name: "Save settings" }).click();
      await page.getByText("The settings are saved.").waitFor();
    };
    const stored = async (): Promise<unknown> => {
      const url = `${stack.ehrUrl}/api/internal/app-installations/${pact.slug}/config`;
      const headers = { "x-org-alias": "riverside-clinic" };
      const response = await sendRequest(url, tokenOf("ehr-service"), { headers });
      return ((await response.json()) as { data: unknown }).data;
    };
    await step.pressSequentially("0.05");
    assert.equal(await step.inputValue(), "0.05");
    await page.getByRole("button", { name: "Set", exact: true }).click();
    await token.pressSequentially("first-token");
    await save();
    assert.deepEqual(await stored(), { step: 0.05, token: "first-token" });

    await step.fill("");
    await step.pressSequentially("12.50");
    await page.getByRole("button", { name: "Replace" }).click();
    await token.pressSequentially("not-this-one");
    await assertAccessible(page, "replacing a secret");
    await page.getByRole("button", { name: "Keep the stored value" }).click();
    await page.getByText("A value is stored. It is never shown.").waitFor();
    await save();
    assert.deepEqual(await stored(), { step: 12.5, token: "first-token" });
    await page.getByRole("button", { name: "Replace" }).click();
    await token.pressSequentially("second-token");
    await save();
    assert.deepEqual(await stored(), { step: 12.5, token: "second-token" });

    await page.getByRole("link", { name: "Overview" }).click();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.goBack();
    await step.fill("13.5");
    await page.getByRole("link", { name: "Overview" }).click();
    const unsaved = page.getByRole("dialog", { name: "Leave without saving?" });
    await unsaved.waitFor();
    await assertAccessible(page, "leaving without saving");
    await unsaved.getByRole("button", { name: "Stay" }).click();
    await unsaved.waitFor({ state: "hidden" });
    assert.equal(await step.inputValue(), "13.5");
    await page.getByRole("link", { name: "Overview" }).click();
    await unsaved.getByRole("button", { name: "Leave" }).click();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    assert.deepEqual(await stored(), { step: 12.5, token: "second-token" });
    assert.deepEqual(mistakes, []);
    await context.close();

    const member = await openConsole(browser, stack);
    await openAs(member.page, "riverside-member", `/practice/riverside-clinic/apps/${pact.slug}`, stack);
    await member.page.getByText("You are a member of this practice").waitFor();
    const shown = member.page.getByLabel("Step (mg)");
    assert.deepEqual([await shown.inputValue(), await shown.isDisabled()], ["12.5", true]);
    await member.page.getByText("A value is stored. It is never shown.").waitFor();
    assert.equal(await member.page.locator("#content").getByRole("button").count(), 0);
    await assertAccessible(member.page, "settings for a member");
    assert.deepEqual(member.mistakes, []);
    await member.context.close();
  });

  /** Returns the tokens of those who are needed for it, and of the EHR. */
  async function publishPact(): Promise<(persona: Persona) => string> {
    const issuer = stack.issuer;
    const tokens = new Map<Persona, string>();
    for (const persona of ["operator", "juniper-developer", "ehr-service"] as const) {
      tokens.set(persona, await requestAccessToken(issuer, persona));
    }
    const tokenOf = (persona: Persona): string => tokens.get(persona) ?? assert.fail(persona);
    const vendor = {
      name: "Juniper Labs",
      websiteUrl: "https://juniper.example",
      commissionPercent: 20,
      supportEmail: "help@juniper.example",
      securityContact: "security@juniper.example",
    };
    const publisher = createPublisher(stack.marketplaceUrl, tokenOf, "juniper-developer");
    await publisher.request("operator", "/admin/vendors/juniper-labs", { method: "PUT", body: vendor });
    await publisher.create(pact.slug, { name: pact.name, configSchema: pactSchema });
    const { id: baaDocument } = await publisher.upload(pact.slug, "document");
    await publisher.edit(pact.slug, { baaDocument });
    await publisher.approve(await publisher.submit(pact.slug));
    return tokenOf;
  }

  test("a subscription is cancelled: the app leaves the EHR, and subscribing to it begins anew", async () => {
    const { page, context, mistakes } = await openConsole(browser, stack);
    await openAs(page, "riverside-admin", `${riverside}/subscriptions`, stack);
    await page.getByRole("button", { name: scribe }).click();
    const drawer = page.getByRole("dialog", { name: scribe });
    await drawer.getByRole("button", { name: "Cancel subscription" }).click();
    const cancel = page.getByRole("dialog", { name: `Cancel ${scribe}?` });
    await cancel.getByText(/You pay \$[\d.]+ for .*, today included\./).waitFor();
    await cancel.getByText("This can't be undone.").waitFor();
    await cancel.getByRole("button", { name: "Cancel subscription" }).click();
    await drawer.getByText(`${scribe} is cancelled.`).waitFor();
    await drawer.getByText("Ended", { exact: true }).waitFor();
    assert.equal(await drawer.getByRole("button", { name: /^(Pause|Change plan|Cancel subscription)$/ }).count(), 0);
    await assertAccessible(page, "details of what was just cancelled");
    await page.keyboard.press("Escape");
    await drawer.waitFor({ state: "hidden" });
    await page.getByRole("button", { name: pact.name }).waitFor();
    assert.equal(await page.getByRole("button", { name: scribe }).count(), 0, "only what is in force is listed");
    await eventually("the app has left the EHR", 120_000, async () => {
      await page.goto(`${riverside}/apps`);
      await page.getByRole("link", { name: `Settings of ${pact.name}` }).waitFor();
      return (await page.getByRole("link", { name: `Settings of ${scribe}` }).count()) === 0;
    });
    await page.goto("/console/subscribe/northwind-scribe");
    await page.getByText("Your practice has had its trial of this app.").waitFor();
    assert.deepEqual(mistakes, []);
    await context.close();
  });
});
