import assert from "node:assert/strict";
import { test } from "node:test";
import type { Representation } from "@ehr-marketplace/service-kit/http";
import { cleanUpAfter, cloneDatabase } from "@ehr-marketplace/test-kit";
import { startMarketplace } from "@ehr-marketplace/tests/support";
import { createCatalog } from "../catalog/catalog.ts";
import { createCatalogClient } from "../catalog/catalog-client.ts";
import { createSitemaps } from "./sitemap.ts";
import { countSitemaps, writeSitemap } from "./sitemap-xml.ts";

const publicUrl = "https://apps.example";
const clock = (): Date => new Date();

const locations = (sitemap: Representation | undefined): string[] =>
  [...(sitemap?.plain.body.toString() ?? "").matchAll(/<loc>https:\/\/apps\.example(.*?)<\/loc>/g)].map(
    ([, path = ""]) => path,
  );

test("apps beyond the limit of a sitemap need another one", () => {
  for (const [apps, expected] of [
    [0, 1],
    [1, 1],
    [50_000, 1],
    [50_001, 2],
    [1_000_000, 20],
  ] as const) {
    assert.equal(countSitemaps(apps, 50_000), expected, String(apps));
  }
});

test("above the limit, an index names sitemaps that list every app once", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl } = await cloneDatabase(cleanUp, "demo");
  const marketplace = await startMarketplace(cleanUp, serviceUrl);
  const client = createCatalogClient({
    marketplaceUrl: `${marketplace.url}/api/v1`,
    logger: { warn: () => undefined },
    clock,
    timeoutMs: 60_000,
  });
  const catalog = createCatalog(client, "203.0.113.7");

  // The demo catalog has 60 apps.
  const whole = createSitemaps({ publicUrl, clock, appsPerSitemap: 60 });
  const all = locations(await whole.getRoot(catalog)).filter((path) => path.startsWith("/apps/"));
  assert.equal(new Set(all).size, 60);

  const parts = createSitemaps({ publicUrl, clock, appsPerSitemap: 25 });
  const index = await parts.getRoot(catalog);
  assert.match(index.plain.body.toString(), /^<\?xml[^>]*>\n<sitemapindex /);
  const named = locations(index);
  assert.deepEqual(named, ["/sitemaps/1.xml", "/sitemaps/2.xml", "/sitemaps/3.xml"]);
  const listed = await Promise.all(named.map(async (_, nth) => locations(await parts.getNumbered(catalog, nth + 1))));
  assert.deepEqual(
    listed.map((paths) => paths.filter((path) => path.startsWith("/apps/")).length),
    [25, 25, 10],
  );
  assert.deepEqual(
    listed.flat().filter((path) => path.startsWith("/apps/")),
    all,
  );
  assert.deepEqual(
    listed.map((paths) => paths.includes("/")),
    [true, false, false],
  );
  for (const number of [0, 4, 1.5, Number.NaN]) {
    assert.equal(await parts.getNumbered(catalog, number), undefined, String(number));
  }
});

test("a sitemap escapes what its paths contain", () => {
  const { body } = writeSitemap(publicUrl, [{ path: "/apps?q=<a>&b", changedAt: "2026-11-17T12:00:00.000Z" }]).plain;
  assert.match(
    body.toString(),
    /<url><loc>https:\/\/apps\.example\/apps\?q=&lt;a&gt;&amp;b<\/loc><lastmod>2026-11-17T12:00:00\.000Z<\/lastmod><\/url>/,
  );
});
