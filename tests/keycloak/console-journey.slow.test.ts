import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter, eventually } from "@ehr-marketplace/test-kit";
import type { RunningWeb } from "@ehr-marketplace/tests/support/web";
import type { Locator } from "playwright-core";
import { amira, riverside, tom } from "./people.ts";
import { patienceMs } from "./practice.ts";
import { type BrowserOfPerson, fillSignIn, openBrowserOf } from "./web-browser.ts";
import type { Person, WebRealm } from "./web-realm.ts";
import { startWebServices, type WebServices } from "./web-services.ts";

const scribe = "Northwind Scribe";
/** The pictures of the demo apps are at another port, and the member's attempt is refused. */
const isExpected = /^Loading the image '[^']+\/media\/|status of 403/;
const subscriptions = `/practice/${riverside}/subscriptions`;

/** Keycloak signs people in, and issues the tokens of the EHR service. Each test continues from the previous one. */
describe("the console, with a Keycloak whose realm is the one that operators import", () => {
  const cleanUp = cleanUpAfter();
  let services: WebServices;
  let realm: WebRealm;
  let web: RunningWeb;
  let admin: BrowserOfPerson;
  let member: BrowserOfPerson;

  before(async () => {
    services = await startWebServices(cleanUp, [tom, amira]);
    ({ realm, web } = services);
    admin = await open(amira);
    member = await open(tom);
  });

  const open = (who: Person): Promise<BrowserOfPerson> => openBrowserOf(services.chromium, web, who);
  /** Opens a screen without a session, and signs in by its link. */
  async function signInAt({ page }: BrowserOfPerson, { username }: Person, path: string): Promise<void> {
    await page.goto(path);
    await page.getByRole("heading", { name: "Sign in to go on" }).waitFor();
    await page.getByRole("link", { name: "Sign in", exact: true }).click();
    await fillSignIn(page, username);
    await page.waitForURL(`${web.url}${path}`);
  }
  async function openDetails({ page }: BrowserOfPerson): Promise<Locator> {
    await page.getByRole("button", { name: scribe }).click();
    return page.getByRole("dialog", { name: scribe });
  }

  test("an admin signs in on the way, subscribes, and the app is installed in the EHR", async () => {
    const { page } = admin;
    await signInAt(admin, amira, "/console/subscribe/northwind-scribe");
    await page.getByRole("heading", { name: `Subscribe to ${scribe}` }).waitFor();
    await page.getByRole("checkbox", { name: "I agree to this access for Riverside Clinic" }).check();
    await page.getByRole("button", { name: "Review and subscribe" }).click();
    const dialog = page.getByRole("dialog", { name: `Subscribe to ${scribe}?` });
    await dialog.getByText(`Riverside Clinic subscribes to ${scribe}`).waitFor();
    await dialog.getByRole("button", { name: "Subscribe" }).click();
    await page.getByText("Installed in your EHR", { exact: true }).waitFor();
    await page.getByRole("link", { name: "Show the subscription" }).click();
    await page.getByRole("button", { name: scribe }).waitFor();
    assert.equal(new URL(page.url()).pathname, subscriptions);
  });

  test("pauses it", async () => {
    const { page } = admin;
    await page.goto(subscriptions);
    const details = await openDetails(admin);
    await details.getByRole("button", { name: "Pause" }).click();
    await page
      .getByRole("dialog", { name: `Pause ${scribe}?` })
      .getByRole("button", { name: "Pause" })
      .click();
    await details.getByText(`${scribe} is paused.`).waitFor();
    await details.getByText("Paused: by your practice").waitFor();
  });

  test("a member sees it, and can change nothing", async () => {
    const { page } = member;
    await signInAt(member, tom, subscriptions);
    const details = await openDetails(member);
    await details.getByText("Paused: by your practice").waitFor();
    await details.getByText("You are a member of this practice").waitFor();
    for (const name of ["Pause", "Resume", "Change plan", "Cancel subscription"])
      assert.equal(await page.getByRole("button", { name, exact: true }).count(), 0, name);
    const id = new URL(page.url()).searchParams.get("open");
    const resumed = await member.call(`/bff/marketplace/subscriptions/${id}/resume`, { method: "POST" });
    assert.equal(resumed.status, 403, "the marketplace doesn't rely on the page");
    await page.goto("/console/subscribe/pocket-phrasebook");
    await page.getByRole("heading", { name: "Only admins of a practice can subscribe" }).waitFor();
  });

  test("who has two practices switches between them, with her role in each", async () => {
    const { page } = admin;
    await page.goto(`/practice/${riverside}`);
    await page.getByRole("button", { name: /^Riverside Clinic.*Switch practice$/ }).click();
    await page.getByRole("menuitem", { name: /^Hilltop Family Practice.*Member/ }).click();
    await page.waitForURL("**/practice/hilltop-family-practice");
    await page.getByText("You are a member of this practice").waitFor();
    await page.getByRole("link", { name: "Subscriptions", exact: true }).click();
    await page.getByRole("heading", { name: "No subscriptions yet" }).waitFor();
    await page.getByRole("button", { name: /^Hilltop Family Practice.*Switch practice$/ }).click();
    await page.getByRole("menuitem", { name: /^Riverside Clinic.*Admin/ }).click();
    await page.waitForURL(`**/practice/${riverside}**`);
    await page.getByText("Paused: by your practice").waitFor();
  });

  test("cancels it, although Keycloak ends her session meanwhile: she signs in in a new tab, and it goes on", async () => {
    const { page, context } = admin;
    await page.goto(subscriptions);
    const details = await openDetails(admin);
    await details.getByRole("button", { name: "Cancel subscription" }).click();
    const dialog = page.getByRole("dialog", { name: `Cancel ${scribe}?` });
    await dialog.getByText("Riverside Clinic").waitFor();
    await realm.endSessionsOf("amira");
    await services.expireTokens();
    assert.equal((await admin.session()).signedIn, false);
    await dialog.getByRole("button", { name: "Cancel subscription" }).click();
    const [tab] = await Promise.all([
      context.waitForEvent("page"),
      page.getByRole("link", { name: "Sign in in a new tab" }).click(),
    ]);
    await fillSignIn(tab, "amira");
    await tab.getByRole("heading", { name: "You are signed in" }).waitFor();
    // Coming back to the page looks for the session too, in case that the tab's message came while the web was busy.
    await eventually("it goes on", patienceMs, async () => {
      await page.evaluate(comeBack);
      return details.getByText(`${scribe} is cancelled.`).isVisible();
    });
    await eventually("the EHR has heard of it", patienceMs, async () => {
      const { body } = await member.call("/bff/ehr/app-installations");
      return (body as { data: unknown[] }).data.length === 0;
    });
  });

  test("signs out in all browsers, here and at Keycloak, which asks for the password in each", async () => {
    const other = await open(amira);
    await signInAt(other, amira, subscriptions);
    await admin.signOut({ everywhere: true });
    assert.deepEqual(await realm.sessionsOf("amira"), [], "Keycloak has no session of hers");
    for (const { page } of [admin, other]) {
      await page.goto(subscriptions);
      await page.getByRole("link", { name: "Sign in", exact: true }).click();
      await page.locator("#username").waitFor();
    }
    assert.equal((await realm.sessionsOf("tom")).length > 0, true, "he is signed in");
    await member.page.goto(subscriptions);
    await member.page.getByRole("heading", { name: "Subscriptions" }).waitFor();
    const mistakes = [admin, other, member].flatMap((each) => each.mistakes);
    assert.deepEqual(
      mistakes.filter((mistake) => !isExpected.test(mistake)),
      [],
    );
  });
});

/** Runs in the page. */
const comeBack = 'void window.dispatchEvent(new Event("focus"))';
