import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { before, describe, test } from "node:test";
import { requestAccessToken } from "@ehr-marketplace/dev/identity-provider/client";
import { cleanUpAfter, eventually } from "@ehr-marketplace/test-kit";
import { assertAccessible } from "@ehr-marketplace/tests/support/assert-accessible";
import { launchChromium } from "@ehr-marketplace/tests/support/chromium";
import {
  assertNoSidewaysScroll,
  assertStaleAndFailed,
  openAs,
  openConsole,
} from "@ehr-marketplace/tests/support/console";
import { type Stack, startStack } from "@ehr-marketplace/tests/support/stack";
import type { Browser, Page } from "playwright-core";

const riverside = "/practice/riverside-clinic";
const hilltop = "/practice/hilltop-family-practice";
const scribe = "Northwind Scribe";
const patienceMs = 120_000;

/** The demo data has charges in it. It is closed once the worker has come to it. */
const now = new Date();
const before2 = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 2, 1));
const month = before2.toISOString().slice(0, 7);
const monthName = `${before2.toLocaleString("en-US", { month: "long", year: "numeric", timeZone: "UTC" })} (UTC)`;

interface Statement {
  totals: { currency: string; total: number }[];
  lines: { appName: string; amount: number; currency: string }[];
}

/** The whole stack, as `npm run dev` starts it. Each test continues from the previous one. */
describe("what a practice pays, in the console", () => {
  const cleanUp = cleanUpAfter();
  let stack: Stack;
  let browser: Browser;
  before(async () => {
    [stack, browser] = await Promise.all([startStack(cleanUp), launchChromium(cleanUp)]);
  });

  async function bearer(persona: "riverside-admin" | "northwind-developer"): Promise<string> {
    return `Bearer ${await requestAccessToken(stack.issuer, persona)}`;
  }

  const call = (path: string, authorization: string, body?: unknown): Promise<Response> =>
    fetch(`${stack.marketplaceUrl}/api/v1${path}`, {
      headers: { authorization, ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
    });

  async function read<T>(path: string): Promise<T> {
    const response = await call(`/organisations/riverside-clinic${path}`, await bearer("riverside-admin"));
    assert.equal(response.status, 200);
    return (await response.json()) as T;
  }

  test("a spend limit is set, changed, reached, raised and removed", async () => {
    const { page, context, mistakes } = await openConsole(browser, stack);
    const id = await subscribeByTheNote();
    await report(id, 50);
    await openAs(page, "riverside-admin", `${riverside}/subscriptions?open=${id}`, stack);
    const drawer = page.getByRole("dialog", { name: scribe });
    await drawer.getByText("The marketplace's default").waitFor();
    await drawer.getByText("$8.50 of $500.00").waitFor();
    await drawer.getByRole("button", { name: "Change limit" }).click();
    const dialog = page.getByRole("dialog", { name: `Limit what ${scribe} costs` });
    await dialog.getByText("so far: $8.50").waitFor();
    const amount = dialog.getByLabel("Limit in a month (USD)");
    await amount.fill("ten");
    await dialog.getByText("Enter an amount above zero").waitFor();
    assert.ok(await dialog.getByRole("button", { name: "Change limit" }).isDisabled());
    await assertAccessible(page, "an amount that is none");
    await amount.fill("25");
    await dialog.getByRole("radio", { name: "Tell us", exact: true }).check();
    await dialog.getByText("At 80 % of $25.00, your practice gets a notice, once.").waitFor();
    await dialog.getByText("At $25.00, it gets another notice, once. The app keeps working").waitFor();
    await dialog.getByRole("button", { name: "Change limit" }).click();
    await drawer.getByText("The limit is $25.00 in a month.").waitFor();
    await drawer.getByText("$8.50 of $25.00").waitFor();
    await assertAccessible(page, "a limit");

    await drawer.getByRole("button", { name: "Change limit" }).click();
    await amount.fill("10");
    await dialog.getByRole("radio", { name: "Tell us, and pause the app" }).check();
    await dialog.getByText("At $10.00, it gets another notice, and the app is paused.").waitFor();
    await dialog.getByText("stops working in the EHR of Riverside Clinic").waitFor();
    await assertAccessible(page, "changing a limit");
    await dialog.getByRole("button", { name: "Change limit" }).click();
    await drawer.getByText("$8.50 of $10.00").waitFor();
    await drawer.getByText("Your practice is told, and the app is paused.").waitFor();

    await report(id, 2, "rejected");
    await page.reload();
    await drawer.getByText(`${scribe} is paused because its spend limit is reached`).waitFor();
    await drawer.getByText("so far: $8.50. Limit: $10.00.").waitFor();
    await drawer.getByText("Raise the limit to at least $10.20, then resume the app.").waitFor();
    await assertAccessible(page, "paused for its limit");
    const resume = page.getByRole("dialog", { name: `Resume ${scribe}?` });
    await drawer.getByRole("button", { name: "Resume" }).click();
    await resume.getByRole("button", { name: "Resume" }).click();
    await resume.getByRole("alert").waitFor();
    await assertAccessible(page, "resuming is refused");
    await resume.getByRole("button", { name: "Back" }).click();
    await resume.waitFor({ state: "hidden" });

    await drawer.getByRole("button", { name: "Change limit" }).click();
    await amount.fill("1");
    await dialog.getByText(`so this limit is reached. ${scribe} is paused at once.`).waitFor();
    assert.ok(await dialog.getByRole("button", { name: "Set it anyway" }).isEnabled());
    await amount.fill("200");
    await dialog.getByRole("button", { name: "Change limit" }).click();
    await drawer.getByText("The limit is $200.00 in a month. Resume the app to use it again.").waitFor();
    await drawer.getByRole("button", { name: "Resume" }).click();
    await resume.getByRole("button", { name: "Resume" }).click();
    await drawer.getByText(`${scribe} is resumed.`).waitFor();
    await drawer.getByRole("button", { name: "Use default limit" }).click();
    const remove = page.getByRole("dialog", { name: `Use the default limit for ${scribe}?` });
    await remove.getByText("gets the marketplace's default limit").waitFor();
    await assertAccessible(page, "removing a limit");
    await remove.getByRole("button", { name: "Use default limit" }).click();
    await drawer.getByText("The default limit is back.").waitFor();
    await drawer.getByText("The marketplace's default").waitFor();

    await page.goto(`${riverside}/audit`);
    const limit = "$200.00 in a month, then the app is paused";
    await page.getByText(`${limit}. Before: $10.00 in a month, then the app is paused`).waitFor();
    await page.getByText(`Before: ${limit}`, { exact: true }).waitFor();

    await page.goto(riverside);
    await page.getByRole("columnheader", { name: "Projected for the month" }).waitFor();
    await page.getByRole("cell", { name: "$8.50" }).first().waitFor();
    await page.getByRole("link", { name: "Show the statement" }).click();
    await page.getByText("It becomes final on the fourth day").waitFor();
    // Refusals are logged by the browser.
    assert.deepEqual(
      mistakes.filter((mistake) => !mistake.includes("status of 409")),
      [],
    );
    await context.close();
  });

  async function subscribeByTheNote(): Promise<string> {
    const admin = await bearer("riverside-admin");
    const plans = (await (await call("/apps/northwind-scribe/pricing", admin)).json()) as {
      id: string;
      name: string;
    }[];
    const pricingPlanId = plans.find(({ name }) => name === "By the note")?.id;
    const body = { appSlug: "northwind-scribe", orgAlias: "riverside-clinic", pricingPlanId };
    const response = await call("/subscriptions", admin, body);
    assert.equal(response.status, 201);
    return ((await response.json()) as { id: string }).id;
  }

  async function report(id: string, quantity: number, expected = "accepted"): Promise<void> {
    const record = { id: crypto.randomUUID(), metric: "notes", quantity, occurredAt: new Date().toISOString() };
    const vendor = await bearer("northwind-developer");
    const response = await call(`/subscriptions/${id}/usage`, vendor, { records: [record] });
    assert.equal(((await response.json()) as { results: { status: string }[] }).results[0]?.status, expected);
  }

  test("statements: the list, its pages, a month, its CSV and on paper", async () => {
    const { page, context, mistakes } = await openConsole(browser, stack);
    await openAs(page, "riverside-admin", riverside, stack);
    const { totals, lines } = await read<Statement>(`/statements/${month}`);
    assert.ok(totals.length === 2 && lines.length >= 3);
    await page.getByRole("link", { name: "Statements", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Statements" }).waitFor();
    await page.getByRole("img", { name: /^Bar chart of the totals in USD/ }).waitFor();
    await page.getByRole("img", { name: /^Bar chart of the totals in EUR/ }).waitFor();
    for (const chart of await page.locator("figure").all()) {
      const isOutlined = (await chart.locator('.bar.open:not([height="0"])').count()) > 0;
      assert.equal(await chart.getByText("Outlined: so far").isVisible(), isOutlined);
    }
    await assertAccessible(page, "list of statements");

    const first = page.url();
    await page.getByRole("button", { name: "Older" }).click();
    await page.waitForURL(/[?&]after=/);
    await page.getByRole("heading", { name: "Nothing has been charged in these months" }).waitFor();
    await assertAccessible(page, "months without charges");
    await page.getByRole("button", { name: "Back to the newest" }).click();
    await page.waitForURL(first);

    const money = ({ currency, total }: Statement["totals"][number]): string =>
      new Intl.NumberFormat("en-US", { style: "currency", currency }).format(total / 100);
    const row = page.getByRole("row", { name: monthName });
    await row.getByText(/^(Final|So far)$/).waitFor();
    for (const total of totals) await row.getByText(money(total)).waitFor();
    await row.getByRole("link", { name: monthName }).click();

    await page.getByRole("heading", { level: 1, name: `Statement for ${monthName}` }).waitFor();
    for (const { currency } of totals) {
      await page.getByRole("heading", { name: `Charges in ${currency}` }).waitFor();
    }
    for (const total of totals) {
      await page
        .getByRole("row", { name: `Total in ${total.currency}` })
        .getByText(money(total))
        .waitFor();
    }
    await page.getByRole("rowheader", { name: "Fax Warbler" }).waitFor();
    await page.getByRole("cell", { name: "By usage" }).first().waitFor();
    await assertAccessible(page, "statement");

    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download CSV" }).click(),
    ]);
    assert.equal(download.suggestedFilename(), `statement-riverside-clinic-${month}.csv`);
    const [header = "", ...rows] = (await readFile(await download.path(), "utf8")).trimEnd().split("\r\n");
    assert.match(header, /^Month,State,App,Charge,.*,Amount,Currency,Corrects$/);
    assert.equal(rows.length, lines.length);
    for (const [index, { appName, amount, currency }] of lines.entries()) {
      const decimal = (amount / 100).toFixed(2);
      assert.ok(rows[index]?.includes(`"${appName}"`) && rows[index].includes(`,${decimal},${currency},`), rows[index]);
    }
    await page.getByText(`statement-riverside-clinic-${month}.csv is downloaded.`).waitFor();
    await showsOnPaper(page);
    await showsFinalMonth(page);
    assert.deepEqual(mistakes, []);
    await context.close();
  });

  /** The worker closes the months of the demo data one after another, the oldest first. */
  async function showsFinalMonth(page: Page): Promise<void> {
    const { items } = await read<{ items: { month: string }[] }>("/statements?limit=1000");
    const oldest = items.at(-1)?.month;
    await eventually("the oldest month is closed", patienceMs, async () => {
      await page.goto(`${riverside}/statements/${oldest}`);
      await page.getByText("Months and days are in UTC.").waitFor();
      return page.getByText("It never changes").isVisible();
    });
    await page.getByText("Final", { exact: true }).waitFor();
    await assertAccessible(page, "final statement");
  }

  /** As wide as A4 without its margins of 15 mm. */
  async function showsOnPaper(page: Page): Promise<void> {
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    await page.setViewportSize({ width: 680, height: 1009 });
    await page.getByText("Generated").waitFor();
    await page.getByRole("definition").getByText("Riverside Clinic").waitFor();
    for (const hidden of [
      page.getByRole("navigation"),
      page.getByRole("banner"),
      page.getByRole("button"),
      page.getByRole("link", { name: "All statements" }),
    ]) {
      assert.equal(await hidden.count(), 0, `${String(hidden)} is printed`);
    }
    const [text, paper] = await page.evaluate<[string, string]>(
      "[getComputedStyle(document.querySelector('h1')).color, getComputedStyle(document.body).backgroundColor]",
    );
    assert.deepEqual([text, paper], ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]);
    await page.getByRole("columnheader", { name: "Amount" }).first().waitFor();
    await assertNoSidewaysScroll(page, "statement on paper");
    await assertAccessible(page, "statement on paper");
    assert.ok((await page.pdf({ format: "A4" })).length > 0);
    await page.emulateMedia({ media: "screen" });
  }

  test("a member sees statements and limits, and can't change them", async () => {
    const { page, context, mistakes } = await openConsole(browser, stack, { viewport: { width: 320, height: 640 } });
    await openAs(page, "riverside-member", `${riverside}/statements`, stack);
    await page.getByRole("link", { name: monthName }).click();
    await page.getByRole("heading", { name: "Charges in USD" }).waitFor();
    await assertNoSidewaysScroll(page, "statement on a phone");
    await assertAccessible(page, "statement on a phone");
    await page.getByRole("link", { name: "All statements" }).click();
    await page.getByRole("link", { name: monthName }).waitFor();
    await assertNoSidewaysScroll(page, "statements on a phone");
    await page.goto(`${riverside}/subscriptions`);
    await page.getByRole("button", { name: scribe }).click();
    const drawer = page.getByRole("dialog", { name: scribe });
    await drawer.getByText("The marketplace's default").waitFor();
    assert.equal(await drawer.getByRole("button", { name: /limit/i }).count(), 0);
    await assertNoSidewaysScroll(page, "details for a member");
    assert.deepEqual(mistakes, []);
    await context.close();
  });

  test("every state of statements is accessible", async () => {
    const { page, context, mistakes } = await openConsole(browser, stack);
    await page.clock.install();
    await openAs(page, "two-practices", `${riverside}/statements`, stack);
    const list = "**/bff/marketplace/organisations/*/statements?*";
    await page.getByRole("link", { name: monthName }).waitFor();
    await assertAccessible(page, "list");
    await assertStaleAndFailed(page, list, "statements");
    const held = Promise.withResolvers<void>();
    await page.route(list, async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.reload();
    await page.locator("[aria-busy=true]").first().waitFor();
    await page.getByRole("heading", { level: 1, name: "Statements" }).waitFor();
    await assertAccessible(page, "loading");
    held.resolve();
    await page.getByRole("link", { name: monthName }).waitFor();

    await page.goto(`${riverside}/statements/${month}`);
    await page.getByRole("rowheader", { name: "Inbox Heron" }).waitFor();
    await assertAccessible(page, "statement");
    await page.goto(`${riverside}/statements/1999-01`);
    await page.getByRole("alert").waitFor();
    await assertAccessible(page, "no statement");
    await page.goto(`${hilltop}/statements`);
    await page.getByRole("heading", { name: "Nothing has been charged in these months" }).waitFor();
    await assertAccessible(page, "empty");
    await page.goto(`${hilltop}/statements/${month}`);
    await page.getByRole("heading", { name: "Nothing was charged in this month" }).waitFor();
    await assertAccessible(page, "empty statement");
    assert.deepEqual(mistakes, []);
    await context.close();
  });
});
