import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { SubscriptionDto } from "@ehr-marketplace/contracts";
import type { Persona } from "@ehr-marketplace/dev/identity-provider";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { assertAccessible } from "@ehr-marketplace/tests/support/assert-accessible";
import { launchChromium } from "@ehr-marketplace/tests/support/chromium";
import { openAs, openConsole, refocus } from "@ehr-marketplace/tests/support/console";
import {
  consoleApi as api,
  fail,
  failNotFound,
  fastForwardUntil,
} from "@ehr-marketplace/tests/support/console-responses";
import { demoSettings } from "@ehr-marketplace/tests/support/demo-settings";
import { type InterruptibleWeb, startInterruptibleWeb } from "@ehr-marketplace/tests/support/interruptible-web";
import { sendJson, startMarketplaceStub } from "@ehr-marketplace/tests/support/marketplace-stub";
import { startWeb } from "@ehr-marketplace/tests/support/web";
import type { Browser, Locator, Page } from "playwright-core";
import {
  assertAttentionFirst,
  assertNotConfirmedWithoutPrice,
  assertNotOverwritten,
  assertSignInSteps,
  assertWordsStayWhole,
} from "./console-steps.ts";

const riverside = "/practice/riverside-clinic";
const scribe = "Northwind Scribe";
const drawing = '<svg xmlns="http://www.w3.org/2000/svg"/>';
/**
 * What other journeys don't show of each screen: the APIs are real, and the test holds, changes or refuses their responses on the way
 * to the browser. Lists of subscriptions, statements and records are in the journeys of those; outages are in that of outages.
 */
describe("every state of the console", () => {
  const cleanUp = cleanUpAfter();
  let services: InterruptibleWeb;
  let browser: Browser;
  let subscription: SubscriptionDto;
  before(async () => {
    [services, browser] = await Promise.all([startInterruptibleWeb(cleanUp), launchChromium(cleanUp)]);
    subscription = await services.subscribe("northwind-scribe");
    await services.subscribe("pocket-phrasebook");
    await services.subscribe("lumen-schedule");
  });

  async function open(persona: Persona, path: string, webUrl = services.web.url) {
    const opened = await openConsole(browser, { webUrl });
    await opened.context.route(`${demoSettings.publicUrl}/media/**`, (route) =>
      route.fulfill({ contentType: "image/svg+xml", body: drawing }),
    );
    await opened.page.clock.install();
    await openAs(opened.page, persona, path, { webUrl });
    const close = async (): Promise<void> => {
      // The browser logs the responses that the test has refused.
      const mistakes = opened.mistakes.filter((mistake) => !mistake.includes("status of 500"));
      assert.deepEqual(mistakes, []);
      await opened.context.close();
    };
    return { page: opened.page, close };
  }

  /** What an error says: what happened, what to do, and what to tell support. */
  async function assertError(page: Page, state: string): Promise<void> {
    const alert = page.getByRole("alert").filter({ hasText: "request-of-a-test" }).first();
    await fastForwardUntil(page, alert);
    await alert.getByText("Something went wrong", { exact: true }).waitFor();
    await alert.getByText("If it happens again, tell support the request id.").waitFor();
    await assertAccessible(page, state);
  }

  interface Screen {
    path: string;
    controlled: string;
    shown: (page: Page) => Locator;
    /** Without it, what was read stays as it is until the page is opened anew. */
    ages?: boolean;
  }
  const month = new Date().toISOString().slice(0, 7);
  const drawer = (page: Page): Locator => page.getByRole("dialog", { name: scribe });
  const screens: Record<string, () => Screen> = {
    overview: () => ({
      path: riverside,
      controlled: api.subscriptions,
      shown: (page) => page.getByRole("link", { name: scribe }),
      ages: true,
    }),
    "a subscription's costs": () => ({
      path: `${riverside}/subscriptions?open=${subscription.id}`,
      controlled: api.estimate,
      shown: (page) => drawer(page).getByText("Projected for the month"),
      ages: true,
    }),
    "a subscription's history": () => ({
      path: `${riverside}/subscriptions?open=${subscription.id}`,
      controlled: api.audit,
      shown: (page) => drawer(page).getByText("Subscribed", { exact: true }),
    }),
    "installed apps": () => ({
      path: `${riverside}/apps`,
      controlled: api.installations,
      shown: (page) => page.getByRole("link", { name: `Settings of ${scribe}` }),
      ages: true,
    }),
    "settings: what is installed": () => ({
      path: `${riverside}/apps/northwind-scribe`,
      controlled: api.installation,
      shown: (page) => page.getByLabel("Language of the note"),
    }),
    "settings: what can be configured": () => ({
      path: `${riverside}/apps/northwind-scribe`,
      controlled: api.app,
      shown: (page) => page.getByLabel("Language of the note"),
    }),
    "a month's statement": () => ({
      path: `${riverside}/statements/${month}`,
      controlled: api.statement,
      shown: (page) => page.getByText("Months and days are in UTC."),
      ages: true,
    }),
    "mails about notices": () => ({
      path: `${riverside}/notices`,
      controlled: api.mails,
      shown: (page) => page.getByLabel("Email address"),
    }),
    subscribing: () => ({
      path: "/console/subscribe/northwind-referrals",
      controlled: api.pricing,
      shown: (page) => page.getByRole("button", { name: "Review and subscribe" }),
    }),
  };

  test("loading, refused and what to do then, and old", async () => {
    const { page, close } = await open("riverside-admin", riverside);
    for (const [name, describeScreen] of Object.entries(screens)) {
      const { path, controlled, shown, ages = false } = describeScreen();
      const held = Promise.withResolvers<void>();
      await page.route(controlled, async (route) => {
        await held.promise;
        await fail(route);
      });
      await page.goto(path);
      await page.locator('[aria-busy="true"]').getByText("Loading").first().waitFor({ state: "attached" });
      await assertAccessible(page, `${name}: loading`);
      held.resolve();
      await assertError(page, `${name}: error`);
      await page.unroute(controlled);
      await page.getByRole("button", { name: "Try again" }).first().click();
      await shown(page).waitFor();

      if (!ages) continue;
      await page.route(controlled, fail);
      await page.clock.fastForward("05:00");
      await refocus(page);
      await fastForwardUntil(page, page.getByText(/It is shown as it was \d+ minutes ago/).first());
      assert.ok(await shown(page).isVisible(), name);
      await assertAccessible(page, `${name}: old`);
      await page.unroute(controlled);
    }
    await close();
  });

  test("words stay whole", async () => {
    const { page, close } = await open("riverside-admin", riverside);
    await assertWordsStayWhole(page, riverside);
    await close();
  });

  test("nothing is there, and what comes next", async () => {
    const { page, close } = await open("riverside-admin", riverside);
    const show = async (path: string, says: string, state: string): Promise<void> => {
      await page.goto(path);
      await page.getByText(says).first().waitFor();
      await assertAccessible(page, state);
    };
    const respond = (controlled: string, json: unknown) => page.route(controlled, (route) => route.fulfill({ json }));
    const content = page.locator("#content");

    await respond(api.subscriptions, []);
    await respond(api.installations, { success: true, message: "", data: [] });
    await show(riverside, "Your practice has no apps yet", "overview: empty");
    assert.equal(await content.getByRole("link", { name: "Browse apps" }).count(), 1);
    await show(`${riverside}/subscriptions`, "No subscriptions yet", "subscriptions: empty");
    await content.getByRole("link", { name: "Browse apps" }).last().waitFor();
    await show(`${riverside}/apps`, "No app is installed in your EHR", "installed apps: empty");
    await content.getByRole("link", { name: "Browse apps" }).waitFor();
    await page.unroute(api.installations);
    await page.unroute(api.subscriptions);

    await show(`${riverside}/subscriptions?open=nothing`, "This subscription wasn't found", "an unknown subscription");
    await content.getByRole("button", { name: "Close" }).click();
    await page.getByText("This subscription wasn't found").waitFor({ state: "hidden" });
    await page.getByRole("button", { name: scribe }).waitFor();

    const cancelledAt = new Date().toISOString();
    await page.route(api.subscriptions, async (route) => {
      const response = await route.fetch();
      const all = (await response.json()) as SubscriptionDto[];
      await route.fulfill({ response, json: all.map((each) => ({ ...each, status: "cancelled", cancelledAt })) });
    });
    await show(`${riverside}/subscriptions`, "No subscription is in force", "subscriptions: all cancelled");
    await page.getByRole("button", { name: "Show the cancelled ones" }).click();
    await page.getByRole("button", { name: scribe }).click();
    await drawer(page).getByText("Ended").waitFor();
    assert.equal(await drawer(page).getByRole("button", { name: "Cancel subscription" }).count(), 0);
    await assertAccessible(page, "details of a cancelled subscription");
    await page.unroute(api.subscriptions);

    await assertAttentionFirst(page, riverside);
    await respond(api.audit, { items: [], next: null });
    await show(`${riverside}/audit`, "Nothing has been changed yet", "audit: empty");
    await respond(api.launches, { success: true, message: "", data: { items: [], next: null } });
    await show(
      `${riverside}/apps/northwind-scribe/launches?after=MQ`,
      "There are no older launches",
      "launches: the end",
    );
    await show(`${riverside}/statements/${month}`, "Months and days are in UTC.", "statement");
    await close();
  });

  test("settings that can't be shown, entered or saved", async () => {
    const { page, close } = await open("riverside-admin", riverside);
    const show = async (slug: string, says: string): Promise<void> => {
      await page.goto(`${riverside}/apps/${slug}`);
      await page.getByText(says).waitFor();
      await assertAccessible(page, `settings: ${says}`);
    };
    await show("northwind-referrals", "This app isn't installed in your EHR.");
    await page.locator("#content").getByRole("link", { name: "Installed apps" }).waitFor();
    await show("pocket-phrasebook", "This app has no settings.");
    await page.route(api.app, async (route) => {
      const response = await route.fetch();
      const json = (await response.json()) as object;
      await route.fulfill({ response, json: { ...json, configSchema: { type: "object", allOf: [] } } });
    });
    await show("northwind-scribe", "The settings of this app can't be shown in a form.");
    await page.unroute(api.app);
    await page.route(api.app, failNotFound);
    await show("northwind-scribe", "This app isn't in the catalog any more.");
    await page.unroute(api.app);

    await page.goto(`${riverside}/apps/lumen-schedule`);
    const notice = page.getByLabel("Minimum notice (hours)");
    await notice.fill("soon");
    await page.getByRole("button", { name: "Save settings" }).click();
    await page.getByText("1 entry has to be corrected.").waitFor();
    await assertAccessible(page, "settings: a wrong entry");
    await notice.fill("7");
    await page.route(api.config, fail);
    await page.getByRole("button", { name: "Save settings" }).click();
    await assertError(page, "settings: not saved");
    assert.equal(await notice.inputValue(), "7");
    await close();
  });

  test("what was saved meanwhile in another tab isn't overwritten unasked", async () => {
    const { page, close } = await open("riverside-admin", riverside);
    await assertNotOverwritten(page, `${riverside}/apps/lumen-schedule`, "Minimum notice (hours)", ["3", "4", "5"]);
    const addresses = ["a@example.com", "b@example.com", "c@example.com"] as const;
    await assertNotOverwritten(page, `${riverside}/notices`, "Email address", addresses);
    await close();
  });

  test("a dialog that was left by going back isn't open for another app, or for the same one", async () => {
    const { page, close } = await open("riverside-admin", `${riverside}/subscriptions`);
    const cancelling = page.getByRole("dialog", { name: /^Cancel / });
    for (const name of [scribe, "Pocket Phrasebook", scribe]) {
      await page.getByRole("button", { name }).click();
      const details = page.getByRole("dialog", { name, exact: true });
      await details.getByText("Projected for the month").waitFor();
      assert.equal(await cancelling.count(), 0, `${name} is shown without a dialog`);
      await details.getByRole("button", { name: "Cancel subscription" }).click();
      await cancelling.getByText(`to ${name} ends now.`).waitFor();
      await page.goBack();
      await details.waitFor({ state: "hidden" });
    }
    await page.goForward();
    await drawer(page).getByRole("button", { name: "Change plan" }).click();
    assert.equal(await cancelling.count(), 0);
    await close();
  });

  test("dialogs whose action is refused keep what was entered", async () => {
    const { page, close } = await open("riverside-admin", `${riverside}/subscriptions?open=${subscription.id}`);
    const dialog = (name: string): Locator => page.getByRole("dialog", { name });
    const refuse = async (name: string, button: string, back: string): Promise<void> => {
      await dialog(name).getByRole("button", { name: button, exact: true }).click();
      await assertError(page, `${name} Refused`);
      await dialog(name).getByRole("button", { name: back }).click();
      await dialog(name).waitFor({ state: "hidden" });
    };
    await page.route("**/bff/marketplace/subscriptions/*/{pause,resume,cancel,plan,spend-limit}", fail);
    await drawer(page).getByRole("button", { name: "Pause" }).click();
    await refuse(`Pause ${scribe}?`, "Pause", "Back");
    await drawer(page).getByRole("button", { name: "Cancel subscription" }).click();
    await refuse(`Cancel ${scribe}?`, "Cancel subscription", "Keep it");
    await drawer(page).getByRole("button", { name: "Set a limit" }).click();
    const limit = dialog(`Limit what ${scribe} costs`);
    await limit.getByLabel(/^Limit in a month/).fill("25");
    await refuse(`Limit what ${scribe} costs`, "Set limit", "Back");

    await page.route(api.pricing, fail);
    await drawer(page).getByRole("button", { name: "Change plan" }).click();
    await assertError(page, "the plans can't be read");
    await page.unroute(api.pricing);
    await dialog(`Change the plan of ${scribe}`).getByRole("button", { name: "Try again" }).click();
    await dialog(`Change the plan of ${scribe}`).getByRole("radio").first().waitFor();
    await page.reload();
    await assertNotConfirmedWithoutPrice(page, "Change plan", async () => {
      await drawer(page).getByRole("button", { name: "Change plan" }).click();
      await dialog(`Change the plan of ${scribe}`).getByRole("radio").last().check();
    });
    await page.goto("/console/subscribe/northwind-referrals");
    await assertNotConfirmedWithoutPrice(page, "Subscribe", async () => {
      await page.getByRole("checkbox", { name: /I agree/ }).check();
      await page.getByRole("button", { name: "Review and subscribe" }).click();
    });
    await page.goto(`${riverside}/subscriptions?open=${subscription.id}`);

    await page.route(api.subscriptions, async (route) => {
      const response = await route.fetch();
      const all = (await response.json()) as SubscriptionDto[];
      const paused = { status: "paused", pauseReason: "ORG_REQUEST", pausedAt: new Date().toISOString() };
      await route.fulfill({ response, json: all.map((each) => ({ ...each, ...paused })) });
    });
    await page.reload();
    await drawer(page).getByRole("button", { name: "Resume" }).click();
    await dialog(`Resume ${scribe}?`).getByText("works again in the EHR of Riverside Clinic").waitFor();
    await assertAccessible(page, "resuming");
    await refuse(`Resume ${scribe}?`, "Resume", "Back");
    await close();
  });

  test("subscribing that isn't possible, and an installation that takes long", async () => {
    const { page, close } = await open("riverside-admin", riverside);
    await page.goto("/console/subscribe/no-such-app");
    await page.getByText("It may have been removed").waitFor();
    await assertAccessible(page, "subscribing to an app that doesn't exist");
    await page.goto("/console/subscribe/northwind-scribe");
    await page.getByText(`Riverside Clinic subscribes to ${scribe} already.`).waitFor();
    await page.getByRole("link", { name: "Show the subscription" }).waitFor();
    await assertAccessible(page, "subscribed already");
    await page.route(api.pricing, (route) => route.fulfill({ json: [] }));
    await page.goto("/console/subscribe/northwind-referrals");
    await page.getByText("This app has no plan on sale.").waitFor();
    await assertAccessible(page, "no plan");

    await page.goto("/console/subscribed/northwind-referrals?practice=riverside-clinic");
    await page.getByText("Riverside Clinic doesn't subscribe to Northwind Referrals").waitFor();
    await page.getByRole("link", { name: "Subscribe to Northwind Referrals" }).waitFor();
    await assertAccessible(page, "not subscribed");
    await page.goto("/console/subscribed/northwind-scribe?practice=hilltop-practice");
    await page.getByText("You aren't a member of").waitFor();
    await assertSignInSteps(page, "/console/subscribed/northwind-scribe?practice=riverside-clinic");
    await page.route(api.installation, failNotFound);
    await page.goto("/console/subscribed/northwind-scribe?practice=riverside-clinic");
    await page.getByText("Being installed in your EHR").waitFor();
    await assertAccessible(page, "being installed");
    await fastForwardUntil(page, page.getByText("This takes longer than usual."));
    await assertAccessible(page, "being installed for long");
    await page.clock.fastForward("11:00");
    await page.getByText("This page has stopped asking your EHR.").waitFor();
    await assertAccessible(page, "the EHR isn't asked any more");
    await page.unroute(api.installation);
    await page.route(api.installation, fail);
    await page.getByRole("button", { name: "Check again" }).click();
    await fastForwardUntil(page, page.getByText("Your EHR can't be asked at the moment."));
    await assertAccessible(page, "the EHR can't be asked");
    await close();
  });

  const people: [Persona, string, string][] = [
    ["operator", "/console", "You are signed in, but belong to no practice."],
    ["operator", riverside, "You aren't a member of Riverside Clinic."],
    ["hilltop-admin", `${riverside}/subscriptions`, "You aren't a member of Riverside Clinic."],
    ["riverside-member", "/console/subscribe/northwind-referrals", "Only admins of a practice can subscribe"],
    ["riverside-member", `${riverside}/apps/northwind-scribe`, "You are a member of this practice"],
    ["riverside-member", "/console/nowhere", "This page doesn't exist"],
  ];
  test("what isn't for somebody, and what doesn't exist", async () => {
    for (const [persona, path, says] of people) {
      const { page, close } = await open(persona, path);
      await page.getByText(says).waitFor();
      if (says.startsWith("Only admins")) await page.getByRole("link", { name: "Go to the overview" }).waitFor();
      if (says.startsWith("You aren't a member")) {
        const asMember = page.getByRole("navigation").or(page.getByText("Member", { exact: true }));
        assert.equal(await asMember.count(), 0, "neither what one is there, nor where to go");
      }
      await assertAccessible(page, `${path} for ${persona}`);
      await close();
    }
  });

  test("a page that fails has a request id", async () => {
    const { url } = await startMarketplaceStub(cleanUp, (_request, response) => sendJson(response, 200, "no app"));
    const { origin } = new URL(url);
    const web = await startWeb(cleanUp, { marketplaceUrl: origin, database: services.web.database });
    const { page, context } = await openConsole(browser, { webUrl: web.url });
    await page.goto("/apps/northwind-scribe");
    await page.getByRole("heading", { name: "Something went wrong on our side" }).waitFor();
    await page.getByText("Request id:").waitFor();
    await assertAccessible(page, "500");
    await context.close();
  });
});
