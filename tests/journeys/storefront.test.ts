import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { assertAccessible } from "@ehr-marketplace/tests/support/assert-accessible";
import { launchChromium } from "@ehr-marketplace/tests/support/chromium";
import { demoSettings } from "@ehr-marketplace/tests/support/demo-settings";
import { sendJson, startMarketplaceStub } from "@ehr-marketplace/tests/support/marketplace-stub";
import { openPage, type Storefront, startStorefront } from "@ehr-marketplace/tests/support/storefront";
import { startWeb } from "@ehr-marketplace/tests/support/web";
import type { Browser, Page } from "playwright-core";

const pages: Record<string, string> = {
  home: "/",
  results: "/apps",
  search: "/apps?q=scrbe",
  "no match": "/apps?q=zzqqxxyy",
  "no match in a category": "/apps?q=scribe&category=FINANCIAL",
  app: "/apps/northwind-referrals",
  versions: "/apps/northwind-scribe/versions",
  vendor: "/vendors/northwind-health",
  "not found": "/apps/no-such-app",
  "not valid": "/apps?page=x",
  "a callback without a sign-in": "/callback",
  "a callback of a cancelled sign-in that isn't known": "/callback?error=access_denied",
};
/** Of pages that say one thing. */
const titles: Record<string, string> = {
  "not found": "This page doesn't exist",
  "not valid": "This request can't be processed",
  "a callback without a sign-in": "This sign-in can't be completed",
  "a callback of a cancelled sign-in that isn't known": "This sign-in can't be completed",
};

/** Waits until the page says so, and checks it. */
async function assertSays(page: Page, text: string | RegExp): Promise<void> {
  await page.getByText(text).first().waitFor();
  await assertAccessible(page, String(text));
}

describe("the storefront in a browser", () => {
  const cleanUp = cleanUpAfter();
  let storefront: Storefront;
  let browser: Browser;
  before(async () => {
    [storefront, browser] = await Promise.all([startStorefront(cleanUp), launchChromium(cleanUp)]);
  });

  test("has no accessibility violations and no errors", async () => {
    const { page, context, mistakes } = await openPage(browser, storefront);
    for (const [name, path] of Object.entries(pages)) {
      await page.goto(path);
      const title = titles[name];
      if (title !== undefined) await page.getByRole("heading", { level: 1, name: title }).waitFor();
      await assertAccessible(page, name);
    }
    await page.goto("/apps/northwind-scribe");
    await page.getByRole("radio", { name: /^Practice/ }).check();
    await page.getByLabel(/Number of units|How many units/).fill("5");
    await page.getByRole("button", { name: "Calculate" }).click();
    await page.getByText("$420.00").first().waitFor();
    await assertAccessible(page, "calculated");
    assert.deepEqual(mistakes, []);
    await context.close();
  });

  test("a sign-in that is cancelled or refused ends on a page without violations", async () => {
    const { page, context, mistakes } = await openPage(browser, storefront);
    const issuer = storefront.web.identityProvider.issuer;
    const come = async (error: string): Promise<void> => {
      const begun = await page.request.get("/login", { maxRedirects: 0 });
      const state = new URL(begun.headers()["location"] ?? "").searchParams.get("state") ?? "";
      await page.goto(`/callback?${new URLSearchParams({ error, state, iss: issuer }).toString()}`);
    };
    await come("access_denied");
    await assertSays(page, "Signing in was cancelled.");
    await come("server_error");
    await assertSays(page, /The sign-in was refused \(server_error\)/);
    assert.deepEqual(mistakes, []);
    await context.close();
  });

  test("pages without what the marketplace refuses have no violations", async () => {
    const { url } = await startMarketplaceStub(cleanUp, (request, response, body) => {
      const { url: path = "", method = "GET" } = request;
      if (/northwind-scribe\/|northwind-referrals\/.*(quote|estimate)/.test(path)) sendJson(response, 503, {});
      else if (path.includes("/apps?")) sendJson(response, 429, {}, { "retry-after": "7" });
      else
        void fetch(`${storefront.marketplace.url}${path}`, { method, ...(body !== "" && { body }) }).then(
          async (forwarded) => sendJson(response, forwarded.status, await forwarded.json()),
        );
    });
    const web = await startWeb(cleanUp, {
      marketplaceUrl: new URL(url).origin,
      database: storefront.web.database,
      environment: { MEDIA_ORIGIN: demoSettings.publicUrl },
    });
    const { page, context, mistakes } = await openPage(browser, { ...storefront, web });
    await page.goto("/apps/northwind-scribe");
    await assertSays(page, "The plans can't be read at the moment.");
    await page.goto("/apps/northwind-referrals?quantity=5");
    await assertSays(page, "The price can't be calculated at the moment.");
    await page.goto("/apps");
    await assertSays(page, "Too many pages were opened at once");
    assert.deepEqual(mistakes, []);
    await context.close();
  });

  test("works without scripts: search, filter, app, calculator", async () => {
    const { page, context, mistakes } = await openPage(browser, storefront, { javaScriptEnabled: false });
    await page.goto("/");
    await page.getByRole("searchbox", { name: "Search apps" }).fill("referral");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByRole("heading", { name: "Apps for “referral”" }).waitFor();
    await page.getByRole("link", { name: "Northwind Referrals" }).click();
    await page.getByRole("radio", { name: /Senders/ }).check();
    await page.getByLabel("Number of units").or(page.getByLabel("How many units")).fill("5");
    await page.getByRole("button", { name: "Calculate" }).click();
    const calculated = page.getByText("$145.00").first();
    await calculated.waitFor();
    assert.match(page.url(), /#estimate$/, "the estimate is scrolled into view");
    const outdated = page.getByText("Press Calculate to see what the plan that you have chosen costs.");
    await outdated.waitFor({ state: "hidden" });
    await page.locator('input[name="plan"]:not([checked])').first().check();
    await outdated.waitFor();
    await calculated.waitFor({ state: "hidden" });
    await page.getByText("Show the technical scopes").click();
    await page.getByText("user/ServiceRequest.rus").waitFor();
    assert.deepEqual(mistakes, []);
    await context.close();
  });

  for (const width of [320, 768, 1280]) {
    test(`fits into ${width} pixels without scrolling sideways, with targets of at least 24 pixels`, async () => {
      const { page, context } = await openPage(browser, storefront, { viewport: { width, height: 800 } });
      for (const [name, path] of Object.entries(pages)) {
        await page.goto(path);
        const { scrolled, small } = await page.evaluate<{ scrolled: number; small: string[] }>(findLayoutMistakes);
        assert.equal(scrolled, 0, `${name} is ${scrolled} pixels too wide`);
        assert.deepEqual(small, [], name);
      }
      await context.close();
    });
  }

  test("is used by keyboard alone: skip link, suggestions, pictures, theme", async () => {
    const { page, context, mistakes } = await openPage(browser, storefront, { colorScheme: "light" });
    await page.goto("/");
    await page.keyboard.press("Tab");
    await page.getByRole("link", { name: "Skip to the content" }).and(page.locator(":focus")).waitFor();
    await page
      .getByRole("searchbox")
      .or(page.getByRole("combobox", { name: "Search apps" }))
      .first()
      .focus();
    await page.keyboard.type("scribe");
    await page.getByRole("option").first().waitFor();
    await assertAccessible(page, "suggestions");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/apps/northwind-scribe");
    await page.locator(".gallery a").first().focus();
    await page.keyboard.press("Enter");
    const viewer = page.getByRole("dialog", { name: "Picture viewer" });
    await viewer.getByText(/^1 \//).waitFor();
    await assertAccessible(page, "picture viewer");
    await page.keyboard.press("ArrowRight");
    await viewer.getByText(/^2 \//).waitFor();
    await page.keyboard.press("Escape");
    await viewer.waitFor({ state: "hidden" });
    await page.locator(".gallery a:focus").waitFor();
    await page.getByRole("button", { name: "Dark theme" }).focus();
    await page.keyboard.press("Enter");
    await page.locator('html[data-theme="dark"]').waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Dark theme", pressed: true }).waitFor();
    assert.deepEqual(mistakes, []);
    await context.close();
  });

  test("an app's page is printed with its plans and facts, and without navigation", async () => {
    const { page, context } = await openPage(browser, storefront);
    await page.goto(pages["app"] ?? "");
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.getByRole("search").isVisible(), false);
    assert.ok(await page.getByRole("heading", { name: "Plans" }).isVisible());
    assert.ok(await page.getByText("Privacy policy").isVisible());
    await context.close();
  });
});

/** Runs in the page. By WCAG 2.5.8, links in sentences are exempt. */
const findLayoutMistakes = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  const small = [...document.querySelectorAll("a, button, input, select, summary")].filter((element) => {
    const { width, height } = element.getBoundingClientRect();
    const isInText = element.closest("p, dd, .prose, li.card, h3") !== null;
    const isHidden = width <= 1 || element.closest("[hidden], .skip, details:not([open])") !== null;
    return !isInText && !isHidden && (width < 24 || height < 24);
  });
  return { scrolled: scrollWidth - clientWidth, small: small.map((element) => element.outerHTML.slice(0, 100)) };
})()`;
