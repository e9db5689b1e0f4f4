import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter, eventually, tokenPattern } from "@ehr-marketplace/test-kit";
import { assertAccessible } from "@ehr-marketplace/tests/support/assert-accessible";
import { launchChromium } from "@ehr-marketplace/tests/support/chromium";
import {
  assertNoSidewaysScroll,
  choosePersona,
  openConsole,
  signInAs,
  tabTo,
} from "@ehr-marketplace/tests/support/console";
import { type Stack, startStack } from "@ehr-marketplace/tests/support/stack";
import type { Browser, BrowserContext, Page } from "playwright-core";

const riverside = "/practice/riverside-clinic";
const scribe = "Northwind Scribe";

/** Here and at the identity provider, as a person does at the end of the day. */
async function signOut(page: Page, item = "Sign out"): Promise<void> {
  await page.getByRole("button", { name: /^Account of/ }).click();
  await page.getByRole("menuitem", { name: item, exact: true }).click();
  await page.getByRole("heading", { name: "Sign out of the identity provider?" }).waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "What your practice needs, in your EHR" }).waitFor();
}

/** Signs in in the tab that the dialog opens. */
async function signInInNewTab(page: Page, context: BrowserContext, persona: string): Promise<void> {
  const [tab] = await Promise.all([
    context.waitForEvent("page"),
    page.getByRole("link", { name: "Sign in in a new tab" }).click(),
  ]);
  await choosePersona(tab, persona);
  await tab.getByRole("heading", { name: "You are signed in" }).waitFor();
  await tab.close();
}

/** The whole stack, as `npm run dev` starts it. Each test continues from the previous one. */
describe("sessions in a browser", () => {
  const cleanUp = cleanUpAfter();
  let stack: Stack;
  let browser: Browser;
  before(async () => {
    [stack, browser] = await Promise.all([startStack(cleanUp), launchChromium(cleanUp)]);
  });

  test("from the start page to an app that is subscribed and configured, by touch on a phone, and no token reaches the browser", async () => {
    const viewport = { width: 390, height: 844 };
    const { page, context, mistakes } = await openConsole(browser, stack, { viewport, hasTouch: true });
    const bodies: Promise<string>[] = [];
    context.on("response", (response) => {
      if (response.url().startsWith(stack.webUrl)) bodies.push(response.text().catch(() => ""));
    });
    await page.goto("/");
    await page.getByLabel("Search apps").fill("scribe");
    await page.getByRole("button", { name: "Search" }).tap();
    await page.getByRole("link", { name: scribe }).first().tap();
    await page.getByRole("button", { name: "Subscribe", exact: true }).tap();
    await page.getByRole("link", { name: "Sign in", exact: true }).tap();
    await choosePersona(page, "riverside-admin");
    await page.getByRole("checkbox", { name: "I agree to this access for Riverside Clinic" }).check();
    await page.getByRole("button", { name: "Review and subscribe" }).tap();
    await page.getByRole("dialog").getByRole("button", { name: "Subscribe" }).tap();
    await page.getByText("Installed in your EHR", { exact: true }).waitFor();
    await page.getByRole("link", { name: "Go to its settings" }).tap();
    await page.getByLabel("Language of the note").selectOption("es-US");
    await page.getByRole("button", { name: "Save settings" }).tap();
    await page.getByText("The settings are saved.").waitFor();

    const cookie = (await context.cookies(stack.webUrl)).find(({ name }) => name === "session");
    assert.ok(cookie?.httpOnly === true && cookie.sameSite === "Strict");
    const readable = await page.evaluate<string>(
      "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])",
    );
    assert.ok(!readable.includes(cookie.value));
    const seen = [...(await Promise.all(bodies)), readable, await page.content(), stack.output()];
    assert.ok(seen.length > 20 && seen.some((text) => text.includes("riverside-clinic")), "responses were recorded");
    for (const text of seen) assert.doesNotMatch(text, tokenPattern);
    assert.ok(!stack.output().includes(cookie.value), "nor the cookie in a log");
    await page.goto("/");
    await page.getByRole("link", { name: "Your practice" }).tap();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    assert.deepEqual(mistakes, []);
    await context.close();
  });

  test("from the start page to an app that is subscribed and configured, by keyboard alone in a window of 320 pixels", async () => {
    const viewport = { width: 320, height: 640 };
    const { page, context, mistakes } = await openConsole(browser, stack, { viewport });
    await page.goto("/");
    await tabTo(page, page.locator("#search"));
    await page.keyboard.type("scribe");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Apps for “scribe”" }).waitFor();
    await assertNoSidewaysScroll(page, "results");
    const follow = async (name: string, role: "link" | "button" = "link"): Promise<void> => {
      await tabTo(page, page.getByRole("main").getByRole(role, { name, exact: true }));
      await page.keyboard.press("Enter");
    };
    await follow(scribe);
    await follow("Subscribe", "button");
    await follow("Sign in");
    await tabTo(page, page.locator('button[value="hilltop-admin"]'));
    await page.keyboard.press("Enter");
    await tabTo(page, page.getByRole("checkbox", { name: /I agree/ }));
    await page.keyboard.press("Space");
    await assertNoSidewaysScroll(page, "subscribing");
    await tabTo(page, page.getByRole("button", { name: "Review and subscribe" }));
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "Subscribe" }).and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Enter");
    await page.getByText("Installed in your EHR", { exact: true }).waitFor();
    await follow("Go to its settings");
    await tabTo(page, page.getByLabel("Language of the note"));
    await page.keyboard.type("fr");
    await assertNoSidewaysScroll(page, "settings");
    await tabTo(page, page.getByRole("button", { name: "Save settings" }));
    await page.keyboard.press("Enter");
    await page.getByText("The settings are saved.").waitFor();
    await assertAccessible(page, "settings on a phone");
    await page.reload();
    const chosen = page.getByLabel("Language of the note").locator("option:checked");
    await chosen.filter({ hasText: "fr-CA" }).waitFor({ state: "attached" });
    assert.deepEqual(mistakes, []);
    await context.close();
  });

  test("two tabs: who signs out in one is told so in the other, where what was entered is kept and saved after a sign-in", async () => {
    const { page, context, mistakes } = await openConsole(browser, stack);
    await signInAs(page, "riverside-admin", `${riverside}/apps/northwind-scribe`);
    await page.getByLabel("Language of the note").selectOption("fr-CA");
    const other = await context.newPage();
    await other.goto(riverside);
    await signOut(other);
    await other.getByRole("link", { name: "Sign in" }).waitFor();
    await page.getByRole("button", { name: "Save settings" }).click();
    await page.getByRole("dialog", { name: "Your session has ended" }).waitFor();
    await signInInNewTab(page, context, "riverside-admin");
    await page.getByText("The settings are saved.").waitFor();
    await page.reload();
    const chosen = page.getByLabel("Language of the note").locator("option:checked");
    await chosen.filter({ hasText: "fr-CA" }).waitFor({ state: "attached" });
    assert.deepEqual(mistakes, []);
    await context.close();
  });

  test("two tabs: nobody acts in the name of another person who has signed in in the other", async () => {
    const { page, context, mistakes } = await openConsole(browser, stack);
    await signInAs(page, "riverside-admin", `${riverside}/subscriptions`);
    await page.getByRole("button", { name: scribe }).click();
    const drawer = page.getByRole("dialog", { name: scribe });
    await drawer.getByRole("button", { name: "Pause" }).click();
    const other = await context.newPage();
    await other.goto(riverside);
    await signOut(other);
    // She is an admin of the practice too: her token would allow it.
    await signInAs(other, "two-practices", riverside);
    await page
      .getByRole("dialog", { name: `Pause ${scribe}?` })
      .getByRole("button", { name: "Pause" })
      .click();
    const changed = page.getByRole("dialog", { name: "Somebody else has signed in" });
    await changed.waitFor();
    await assertAccessible(page, "somebody else has signed in");
    await changed.getByRole("button", { name: "Load anew" }).click();
    await page.getByRole("button", { name: "Account of Amira Haddad" }).waitFor();
    await drawer.getByRole("button", { name: "Pause" }).waitFor();
    await drawer.getByText("Subscribed", { exact: true }).waitFor();
    assert.equal(await drawer.getByText("Paused", { exact: true }).count(), 0, "its history has no pause");
    // The browser logs the refused requests.
    assert.deepEqual(
      mistakes.filter((mistake) => !/status of 409/.test(mistake)),
      [],
    );
    await context.close();
  });

  test("back and forward lead through filters, details and the steps of subscribing, and nothing is done twice", async () => {
    const { page, context, mistakes } = await openConsole(browser, stack);
    await signInAs(page, "riverside-admin", `${riverside}/subscriptions`);
    await page.getByRole("button", { name: scribe }).waitFor();
    await page.getByLabel("Status").selectOption("paused");
    await page.getByRole("heading", { name: "No subscription matches" }).waitFor();
    await page.getByLabel("Status").selectOption("all");
    await page.getByRole("button", { name: scribe }).click();
    const drawer = page.getByRole("dialog", { name: scribe });
    await drawer.waitFor();
    await page.goBack();
    await drawer.waitFor({ state: "hidden" });
    await page.goBack();
    await page.getByRole("heading", { name: "No subscription matches" }).waitFor();
    await page.goBack();
    await page.getByRole("button", { name: scribe }).waitFor();
    await page.goForward();
    await page.getByRole("heading", { name: "No subscription matches" }).waitFor();
    await page.goForward();
    await page.goForward();
    await drawer.waitFor();

    await page.goto("/apps/pocket-phrasebook");
    await page.getByRole("button", { name: "Subscribe", exact: true }).click();
    await page.getByRole("radio", { name: /Shared shelf/ }).check();
    await page.getByLabel("Number of units (user)").fill("7");
    await page.goBack();
    await page.getByRole("heading", { name: "Pocket Phrasebook", level: 1 }).waitFor();
    await page.goForward();
    const units = page.getByLabel("Number of units (user)");
    await units.waitFor();
    assert.equal(await units.inputValue(), "7");
    const agreement = page.getByRole("checkbox", { name: /I agree/ });
    assert.equal(await agreement.isChecked(), false, "nobody agrees by going back");
    await agreement.check();
    await page.getByRole("button", { name: "Review and subscribe" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Subscribe" }).click();
    await page.getByRole("heading", { name: "Pocket Phrasebook is subscribed" }).waitFor();
    await page.goBack();
    await page.getByText("Riverside Clinic subscribes to Pocket Phrasebook already.").waitFor();
    assert.deepEqual(mistakes, []);
    await context.close();
  });

  test("signing out in all browsers ends the session of the other one, and a copied cookie is worthless", async () => {
    const [one, other] = [await openConsole(browser, stack), await openConsole(browser, stack)];
    for (const { page } of [one, other]) await signInAs(page, "riverside-admin", riverside);
    const copied = await Promise.all([one, other].map(({ context }) => context.cookies(stack.webUrl)));
    const isSignedIn = async (cookies: (typeof copied)[number]): Promise<boolean> => {
      const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
      const headers = { cookie, "x-requested-with": "ehr-marketplace" };
      const response = await fetch(`${stack.webUrl}/bff/session`, { headers });
      return ((await response.json()) as { signedIn: boolean }).signedIn;
    };
    assert.deepEqual(await Promise.all(copied.map(isSignedIn)), [true, true]);
    await signOut(one.page, "Sign out in all browsers");
    assert.deepEqual(await Promise.all(copied.map(isSignedIn)), [false, false]);
    const ended = other.page.getByRole("dialog", { name: "Your session has ended" });
    const statements = other.page.getByRole("link", { name: "Statements" });
    // By the next request, which may be the page's own; the dialog then covers the link.
    await eventually("the other browser says so", 120_000, async () => {
      if (await ended.isVisible()) return true;
      await statements.click({ timeout: 2_000 }).catch(() => undefined);
      return false;
    });
    assert.deepEqual([...one.mistakes, ...other.mistakes], []);
    for (const { context } of [one, other]) await context.close();
  });
});
