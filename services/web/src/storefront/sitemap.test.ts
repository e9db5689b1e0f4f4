import assert from "node:assert/strict";
import type { RequestListener } from "node:http";
import { type TestContext, test } from "node:test";
import type { Representation } from "@ehr-marketplace/service-kit/http";
import { cleanUpAfter, cloneDatabase } from "@ehr-marketplace/test-kit";
import { startMarketplace } from "@ehr-marketplace/tests/support/marketplace";
import { startMarketplaceStub } from "@ehr-marketplace/tests/support/marketplace-stub";
import { createCatalog } from "../catalog/catalog.ts";
import { type CatalogClient, createCatalogClient } from "../catalog/catalog-client.ts";
import { createSitemaps } from "./sitemap.ts";
import { countSitemaps, writeSitemap } from "./sitemap-xml.ts";

const publicUrl = "https://apps.example";
const clock = (): Date => new Date();

const locations = (sitemap: Representation | undefined): string[] =>
  [...(sitemap?.plain.body.toString() ?? "").matchAll(/<loc>https:\/\/apps\.example(.*?)<\/loc>/g)].map(
    ([, path = ""]) => path,
  );

/** A client of a marketplace that responds so. */
async function startUpstream(t: TestContext, respond: RequestListener, now = clock): Promise<CatalogClient> {
  const { url: marketplaceUrl } = await startMarketplaceStub(cleanUpAfter(t), respond);
  return createCatalogClient({ marketplaceUrl, logger: { warn: () => undefined }, clock: now, timeoutMs: 60_000 });
}

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

test("a crawler neither fills the cache of readers, nor repeats a failure, nor is refused because of another", async (t) => {
  let isFailing = true;
  let requested = 0;
  let now = Date.parse("2026-11-17T12:00:00Z");
  const client = await startUpstream(
    t,
    (request, response) => {
      const isLimited = request.headers["x-forwarded-for"] === "198.51.100.3";
      const status = isFailing ? 500 : 200;
      response.writeHead(isLimited ? 429 : status).end('{"content":[],"last":true,"totalElements":0}');
      requested += 1;
    },
    () => new Date(now),
  );
  const [crawler, limited] = [createCatalog(client, "203.0.113.7"), createCatalog(client, "198.51.100.3")];
  const sitemaps = createSitemaps({ publicUrl, clock: () => new Date(now) });

  for (let nth = 0; nth < 3; nth += 1) await assert.rejects(sitemaps.getRoot(crawler), /can't be reached/);
  await assert.rejects(sitemaps.getNumbered(crawler, 1), /can't be reached/);
  assert.equal(requested, 1);

  isFailing = false;
  now += 5_000;
  const [refused, served] = await Promise.allSettled([sitemaps.getRoot(limited), sitemaps.getRoot(crawler)]);
  assert.deepEqual([refused.status, served.status], ["rejected", "fulfilled"]);
  assert.deepEqual(locations(await sitemaps.getRoot(limited)), ["/", "/apps"]);

  const count = requested;
  await crawler.listApps({ sort: "publishedAt,asc", page: 0, size: 100 });
  assert.equal(requested, count + 1, "the pages of a sitemap aren't in the cache");
});

test("keeps the sitemaps that were read last, and not all of a large catalog", async (t) => {
  let requested = 0;
  const client = await startUpstream(t, (_request, response) => {
    requested += 1;
    response.end('{"content":[],"last":true,"totalElements":25}');
  });
  const catalog = createCatalog(client, "203.0.113.7");
  const sitemaps = createSitemaps({ publicUrl, clock, appsPerSitemap: 1 });
  for (let number = 1; number <= 25; number += 1) await sitemaps.getNumbered(catalog, number);
  assert.equal(requested, 26, "the number of sitemaps, and each of them");
  await sitemaps.getNumbered(catalog, 25);
  assert.equal(requested, 26);
  await sitemaps.getNumbered(catalog, 1);
  assert.equal(requested, 27);
});

test("a sitemap escapes what its paths contain", () => {
  const { body } = writeSitemap(publicUrl, [{ path: "/apps?q=<a>&b", changedAt: "2026-11-17T12:00:00.000Z" }]).plain;
  assert.match(
    body.toString(),
    /<url><loc>https:\/\/apps\.example\/apps\?q=&lt;a&gt;&amp;b<\/loc><lastmod>2026-11-17T12:00:00\.000Z<\/lastmod><\/url>/,
  );
});
