import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { startIdentityProvider } from "@ehr-marketplace/dev/identity-provider";
import { cleanUpAfter, eventually, withClient } from "@ehr-marketplace/test-kit";
import { assertAccessible } from "@ehr-marketplace/tests/support/assert-accessible";
import { launchChromium } from "@ehr-marketplace/tests/support/chromium";
import { choosePersona, type OpenedConsole, openConsole } from "@ehr-marketplace/tests/support/console";
import { demoSettings } from "@ehr-marketplace/tests/support/demo-settings";
import { type InterruptibleWeb, startInterruptibleWeb } from "@ehr-marketplace/tests/support/interruptible-web";
import type { Browser, Page } from "playwright-core";

const riverside = "/practice/riverside-clinic";
const patienceMs = 120_000;
const drawing = '<svg xmlns="http://www.w3.org/2000/svg"/>';

/** What people see while something is down. Each test ends the outage that it begins. */
describe("the web in a browser during an outage", () => {
  const cleanUp = cleanUpAfter();
  let services: InterruptibleWeb;
  let browser: Browser;
  before(async () => {
    [services, browser] = await Promise.all([startInterruptibleWeb(cleanUp), launchChromium(cleanUp)]);
    await services.subscribe("northwind-scribe");
  });

  async function open(): Promise<OpenedConsole> {
    const opened = await openConsole(browser, { webUrl: services.web.url });
    await opened.context.route(`${demoSettings.publicUrl}/media/**`, (route) =>
      route.fulfill({ contentType: "image/svg+xml", body: drawing }),
    );
    return opened;
  }
  async function signIn(page: Page, path: string): Promise<void> {
    await page.goto(path);
    await page.getByRole("link", { name: "Sign in", exact: true }).click();
    await choosePersona(page, "riverside-admin");
    await page.waitForURL(`**${path}`);
  }
  /** Waits until the page says so, and checks it. */
  async function assertSays(page: Page, text: string | RegExp, state: string): Promise<void> {
    await page.getByText(text).first().waitFor();
    await assertAccessible(page, state);
  }

  async function signOut(page: Page): Promise<void> {
    await page.getByRole("button", { name: /^Account of/ }).click();
    await page.getByRole("menuitem", { name: "Sign out", exact: true }).click();
  }

  test("of the EHR: subscriptions and costs are shown, and installed apps say that the EHR doesn't respond", async (t) => {
    const { page, context, mistakes } = await open();
    await signIn(page, riverside);
    t.after(() => services.ehr.restore());
    services.ehr.interrupt("reset");
    await page.goto(`${riverside}/subscriptions`);
    await page.getByRole("button", { name: "Northwind Scribe" }).waitFor();
    await assertSays(page, "Can't be asked at the moment", "subscriptions without the EHR");
    await page.getByRole("button", { name: "Northwind Scribe" }).click();
    const drawer = page.getByRole("dialog", { name: "Northwind Scribe" });
    await drawer.getByText("Can't be asked at the moment").waitFor();
    await drawer.getByRole("button", { name: "Pause" }).waitFor();
    await page.goto(riverside);
    await assertSays(page, "which apps can't sign in isn't known", "overview without the EHR");
    for (const path of [`${riverside}/apps`, `${riverside}/apps/northwind-scribe`]) {
      await page.goto(path);
      await page.getByText("Your EHR doesn't respond").waitFor();
      await assertSays(page, /Subscriptions and costs work meanwhile/, path);
    }
    services.ehr.restore();
    await page.getByRole("button", { name: "Try again" }).click();
    const language = page.getByLabel("Language of the note");
    await language.selectOption("es-US");
    services.ehr.interrupt("reset");
    await page.getByRole("button", { name: "Save settings" }).click();
    await assertSays(page, "Your EHR doesn't respond", "saving settings without the EHR");
    assert.equal(await language.locator("option:checked").textContent(), "es-US", "what was entered stays");
    services.ehr.restore();
    await page.getByRole("button", { name: "Save settings" }).click();
    await page.getByText("The settings are saved.").waitFor();
    await page.goto(`${riverside}/apps`);
    await page.getByRole("link", { name: "Settings of Northwind Scribe" }).waitFor();
    assert.deepEqual(mistakes, []);
    await context.close();
  });

  test("of the marketplace: installed apps are shown, others say what doesn't respond, and trying again works", async (t) => {
    const { page, context, mistakes } = await open();
    await signIn(page, riverside);
    await page.goto("/apps/northwind-scribe");
    t.after(() => services.marketplace.restore());
    services.marketplace.interrupt("reset");
    await page.goto(`${riverside}/apps`);
    await page.getByRole("link", { name: "Settings of Northwind Scribe" }).waitFor();
    await assertSays(page, "apps that wait to be installed may be missing", "installed apps without the marketplace");
    await page.goto(`${riverside}/apps/northwind-scribe`);
    await page.getByText("The marketplace doesn't respond").waitFor();
    await assertSays(page, /Apps that are installed in your EHR keep working/, "settings without the marketplace");
    await page.goto(riverside);
    await page.getByText("The marketplace doesn't respond").first().waitFor();
    await assertSays(page, /Apps that are installed in your EHR keep working/, "overview without the marketplace");
    await page.goto("/apps/northwind-referrals");
    await assertSays(page, "The catalog can't be read at the moment", "an app's page that wasn't read before");
    // What was read a moment ago is shown as it is for half a minute, without asking the marketplace.
    const stale = page.getByText(/This page shows the catalog as it was .* ago/);
    await eventually("an app's page says that it is old", patienceMs, async () => {
      await page.goto("/apps/northwind-scribe");
      return stale.isVisible();
    });
    await page.getByRole("heading", { name: "Northwind Scribe", level: 1 }).waitFor();
    await assertAccessible(page, "an app's page that was read before");
    await page.goto(`${riverside}/subscriptions`);
    await page.getByText("The marketplace doesn't respond").waitFor();
    services.marketplace.restore();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("button", { name: "Northwind Scribe" }).waitFor();
    assert.deepEqual(mistakes, []);
    await context.close();
  });

  test("of PostgreSQL: the catalog is shown, and the console says what works", async (t) => {
    const { page, context, mistakes } = await open();
    await signIn(page, riverside);
    const leaving = await open();
    await signIn(leaving.page, riverside);
    await leaving.page.getByRole("heading", { name: "Overview" }).waitFor();
    t.after(() => services.database.restore());
    services.database.interrupt("reset");
    await signOut(leaving.page);
    await assertSays(leaving.page, "You are signed out in this browser only", "signing out without the database");
    const kept = (await leaving.context.cookies(services.web.url)).map(({ name }) => name);
    assert.ok(!kept.includes("session"), "the browser forgets the session");
    await page.goto(riverside);
    await page.getByText("This can't be read at the moment").waitFor();
    await assertSays(page, /The catalog can be read meanwhile/, "the console without sessions");
    await page.getByRole("link", { name: "Browse apps" }).click();
    await page.getByRole("heading", { name: "Apps", exact: true }).waitFor();
    // Without a session's cookie, no database is asked whether somebody is signed in.
    await context.clearCookies();
    await page.goto("/console");
    await page.getByRole("link", { name: "Sign in", exact: true }).click();
    await choosePersona(page, "riverside-admin");
    await assertSays(page, /Your sign-in was accepted, but can't be kept/, "the callback without the database");
    services.database.restore();
    await signIn(page, riverside);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    assert.deepEqual([...mistakes, ...leaving.mistakes], []);
    await context.close();
    await leaving.context.close();
  });

  test("of the identity provider: the console goes on, what is entered stays, and pages say that signing in doesn't work", async () => {
    const { web, provider } = services;
    const { page, context, mistakes } = await open();
    await signIn(page, "/console/subscribe/pocket-phrasebook");
    await page.getByRole("checkbox", { name: "I agree to this access for Riverside Clinic" }).check();
    const leaving = await open();
    await signIn(leaving.page, riverside);
    await leaving.page.getByRole("heading", { name: "Overview" }).waitFor();
    const port = Number(new URL(provider.issuer).port);
    await provider.stop();
    await withClient(web.database.ownerUrl, (client) =>
      client.query("update web.sessions set access_expires_at = now()"),
    );
    await page.getByRole("button", { name: "Review and subscribe" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Subscribe" }).click();
    await assertSays(page, "Your sign-in can't be renewed at the moment", "subscribing without the identity provider");
    const other = await open();
    await other.page.goto("/login");
    await assertSays(other.page, "Signing in doesn't work at the moment", "/login without the identity provider");
    await signOut(leaving.page);
    await assertSays(leaving.page, "You are signed out here", "signing out without the identity provider");
    const successor = await startIdentityProvider({ port, keys: provider.keys });
    cleanUp(() => successor.stop());
    // It has forgotten who had signed in: the dialog asks for it, and what was agreed to is sent then.
    await page.getByRole("dialog").getByRole("button", { name: "Subscribe" }).click();
    const [tab] = await Promise.all([
      context.waitForEvent("page"),
      page.getByRole("link", { name: "Sign in in a new tab" }).click(),
    ]);
    await choosePersona(tab, "riverside-admin");
    await page.getByRole("heading", { name: "Pocket Phrasebook is subscribed" }).waitFor();
    assert.deepEqual([...mistakes, ...other.mistakes, ...leaving.mistakes], []);
    await context.close();
    await leaving.context.close();
    await other.context.close();
  });

  test("of a version: a part of the console that the server doesn't have leads to a page that says so", async () => {
    const { page, context } = await open();
    await signIn(page, riverside);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    const part = "**/assets/subscriptions-page-*.js";
    await context.route(part, (route) =>
      route.fulfill({ status: 404, contentType: "application/problem+json", body: "{}" }),
    );
    await page.getByRole("link", { name: "Subscriptions", exact: true }).click();
    await page.getByRole("heading", { name: "There is a new version" }).waitFor();
    await assertAccessible(page, "a new version");
    await context.unroute(part);
    await page.getByRole("button", { name: "Load anew" }).click();
    await page.getByRole("button", { name: "Northwind Scribe" }).waitFor();

    await context.route("**/assets/*.{js,css}", (route) => route.fulfill({ status: 404, body: "" }));
    await page.goto("/console");
    await page.getByText("If nothing appears:").waitFor();
    await page.goto("/apps/northwind-scribe");
    await page.getByRole("heading", { name: "Northwind Scribe", level: 1 }).waitFor();
    await context.close();
  });
});
