import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { PricingPlanDto, QuoteDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter, cloneDatabase } from "@ehr-marketplace/test-kit";
import { type RunningMarketplace, startMarketplace } from "@ehr-marketplace/tests/support/marketplace";
import { type RunningWeb, startWeb } from "@ehr-marketplace/tests/support/web";
import { describeLine } from "./describe-price.ts";
import { formatMoney } from "./format.ts";

const text = (html: string): string =>
  html
    .replaceAll(/<(script|style)\b.*?<\/\1>/gs, " ")
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll("&#x27;", "'")
    .replaceAll("&amp;", "&")
    .replaceAll(/\s+/g, " ");

describe("the storefront of the demo catalog", () => {
  const cleanUp = cleanUpAfter();
  let marketplace: RunningMarketplace;
  let web: RunningWeb;
  before(async () => {
    const database = await cloneDatabase(cleanUp, "demo");
    marketplace = await startMarketplace(cleanUp, database.serviceUrl);
    const environment = { VENDORS_URL: "https://developers.example", SUPPORT_URL: "https://help.example" };
    web = await startWeb(cleanUp, { marketplaceUrl: marketplace.url, environment });
  });
  const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${web.url}${path}`, { headers: { accept: "text/html", ...headers }, redirect: "manual" });
  const read = async (path: string): Promise<string> => {
    const response = await get(path);
    assert.equal(response.status, 200, path);
    return response.text();
  };

  test("each page, and each error, links to the operator's help", async () => {
    for (const path of ["/", "/apps", "/apps/nowhere"]) {
      assert.match(await (await get(path)).text(), /<a[^>]* href="https:\/\/help\.example"[^>]*>Get help<\/a>/, path);
    }
  });

  test("home has search, categories, featured, new and popular apps", async () => {
    const html = await read("/");
    const shown = text(html);
    for (const part of ["Categories", "Featured", "New", "Popular", "Sign in"]) assert.ok(shown.includes(part), part);
    assert.match(html, /<form[^>]*action="\/apps"/);
    assert.ok((html.match(/href="\/apps\/[a-z-]+"/g) ?? []).length >= 12);
  });

  test("every page, also of an error, leads vendors where the operator says", async () => {
    for (const path of ["/", "/apps", "/nowhere"]) {
      assert.match(
        await (await get(path)).text(),
        /<a class="for-vendors" href="https:\/\/developers\.example">/,
        path,
      );
    }
  });

  test("results are filtered, sorted and in pages", async () => {
    assert.ok(text(await read("/apps")).includes("60 apps"));
    const second = await read("/apps?page=2&sort=name");
    assert.ok(text(second).includes("Page 2 of 3"));
    assert.match(second, /rel="prev" href="\/apps\?sort=name"/);
    assert.match(second, /rel="next" href="\/apps\?sort=name&amp;page=3"/);
    assert.ok(text(await read("/apps?category=documentation")).includes("Documentation"));
    assert.equal((await get("/apps?page=9")).status, 404);
  });

  test("a search corrects typing errors, and says so", async () => {
    const shown = text(await read("/apps?q=scrbe"));
    assert.match(shown, /Results for “scribe”\. Nothing matches “scrbe”/);
  });

  test("a search without results helps: categories that have it, others to browse, and a way back", async () => {
    const elsewhere = await read("/apps?q=scribe&category=FINANCIAL");
    assert.match(text(elsewhere), /These categories have it: Documentation/i);
    assert.match(elsewhere, /href="\/apps\?q=scribe&amp;category=DOCUMENTATION"/);
    const nowhere = text(await read("/apps?q=zzqqxxyy"));
    for (const part of [
      "No app matches “zzqqxxyy”",
      "Browse by category",
      "Clear filters",
      "What other practices use",
    ]) {
      assert.ok(nowhere.includes(part), part);
    }
  });

  test("an app's page has plans, permissions in plain words, facts and versions", async () => {
    const html = await read("/apps/northwind-referrals");
    const shown = text(html);
    for (const part of [
      "Northwind Referrals",
      "$29.00 per referring clinician, per month",
      "Free trial of 30 days",
      "What this app may read and write",
      "Records that the signed-in user may see",
      "Creates and changes tasks",
      "user/ServiceRequest.rus",
      "Privacy policy",
      "Business associate agreement",
      "3.5.8",
      "(UTC)",
    ]) {
      assert.ok(shown.includes(part), part);
    }
    assert.doesNotMatch(html, / style="/);
    for (const [picture] of html.matchAll(/<img[^>]*640[^>]*>/g)) assert.match(picture, /alt="[^"]+"/);
  });

  test("the calculator shows the lines of the marketplace's estimate", async () => {
    const plans = (await (await marketplace.get("/apps/northwind-referrals/pricing")).json()) as PricingPlanDto[];
    for (const { id, currency } of plans) {
      const quoted = await fetch(`${marketplace.url}/api/v1/apps/northwind-referrals/estimate`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ pricingPlanId: id, quantity: 7 }),
      });
      const { fullMonth } = (await quoted.json()) as QuoteDto;
      const shown = text(await read(`/apps/northwind-referrals?plan=${id}&quantity=7`));
      for (const { description, amount } of fullMonth.lines) {
        assert.ok(shown.includes(describeLine(description)), description);
        assert.ok(shown.includes(formatMoney(amount, currency)));
      }
      assert.ok(shown.includes(`Total ${formatMoney(fullMonth.total, currency)}`), shown);
    }
    const [plan] = plans;
    assert.match(
      text(await read(`/apps/northwind-referrals?plan=${plan?.id}&quantity=-3`)),
      /can't be calculated for this plan/,
    );
  });

  test("vendors and versions have pages", async () => {
    assert.ok(text(await read("/vendors/northwind-health")).includes("Apps by Northwind Health"));
    const versions = text(await read("/apps/northwind-scribe/versions"));
    assert.ok(versions.includes("Versions of Northwind Scribe") && versions.includes("The first release."));
  });

  test("structured data is valid JSON", async () => {
    for (const path of ["/", "/apps/northwind-scribe"]) {
      const [, json = ""] = /<script type="application\/ld\+json">(.*?)<\/script>/s.exec(await read(path)) ?? [];
      assert.equal((JSON.parse(json) as { "@context": string })["@context"], "https://schema.org");
    }
  });

  test("the sitemap lists apps and vendors, and robots.txt names it", async () => {
    const sitemap = await (await get("/sitemap.xml")).text();
    assert.equal((sitemap.match(/<loc>[^<]*\/apps\/[a-z0-9-]+<\/loc>/g) ?? []).length, 60);
    assert.ok(sitemap.includes(`<loc>${web.url}/vendors/northwind-health</loc>`));
    assert.ok((await (await get("/robots.txt")).text()).includes(`Sitemap: ${web.url}/sitemap.xml`));
    assert.equal((await get("/sitemaps/2.xml")).status, 404);
  });

  test("suggestions name apps, and where all results are", async () => {
    const { apps, all } = (await (await get("/suggestions?q=scribe")).json()) as {
      apps: { name: string; href: string }[];
      all: { href: string };
    };
    assert.deepEqual([apps[0]?.href, all.href], ["/apps/northwind-scribe", "/apps?q=scribe"]);
  });

  test("no app's page shows a list of the API, which has fixed paths beside apps and vendors", async () => {
    for (const name of ["search", "featured", "categories"]) {
      for (const path of [`/apps/${name}`, `/apps/${name}/versions`, `/vendors/${name}`]) {
        assert.equal((await get(path)).status, 404, path);
      }
    }
  });

  test("what doesn't exist is a page for browsers, and a problem document for others", async () => {
    for (const path of ["/apps/no-such-app", "/vendors/no-such-vendor", "/nowhere", "/apps/..%2f..%2fhealth"]) {
      const page = await get(path);
      assert.equal(page.status, 404, path);
      assert.equal(page.headers.get("cache-control"), "no-store");
      assert.equal(page.headers.get("vary"), "accept");
      assert.match(text(await page.text()), /This page doesn't exist.*Browse all apps/);
      const problem = await get(path, { accept: "application/json" });
      assert.equal(problem.headers.get("content-type"), "application/problem+json", path);
      assert.equal(((await problem.json()) as { code: string }).code, "not-found");
    }
  });
});
