import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter, cloneDatabase } from "@ehr-marketplace/test-kit";
import { startMarketplace } from "@ehr-marketplace/tests/support/marketplace";
import { type RunningWeb, startWeb } from "@ehr-marketplace/tests/support/web";

describe("public pages can be cached by anyone", () => {
  const cleanUp = cleanUpAfter();
  let web: RunningWeb;
  before(async () => {
    const { serviceUrl } = await cloneDatabase(cleanUp, "demo");
    const { url: marketplaceUrl } = await startMarketplace(cleanUp, serviceUrl);
    web = await startWeb(cleanUp, { marketplaceUrl, environment: { MEDIA_ORIGIN: "https://media.example" } });
  });
  const pages = [
    "/",
    "/apps",
    "/apps?q=scribe",
    "/apps/northwind-scribe",
    "/apps/northwind-scribe/versions",
    "/vendors/northwind-health",
  ];

  for (const path of pages) {
    test(`${path} is public, has an ETag, and sets no cookie`, async () => {
      const response = await fetch(`${web.url}${path}`);
      const { headers } = response;
      assert.match(headers.get("cache-control") ?? "", /^public, max-age=60, stale-while-revalidate=300/);
      assert.equal(headers.get("vary"), "accept-encoding");
      assert.deepEqual(headers.getSetCookie(), []);
      assert.ok(["br", "gzip"].includes(headers.get("content-encoding") ?? ""));
      const etag = headers.get("etag") ?? "";
      const again = await fetch(`${web.url}${path}`, { headers: { "if-none-match": etag } });
      assert.deepEqual([again.status, await again.text(), again.headers.get("etag")], [304, "", etag]);
    });
  }

  test("a page is the same whoever reads it, and whatever their browser sends", async () => {
    const plain = await (await fetch(`${web.url}/apps/northwind-scribe`)).text();
    for (const headers of [
      { cookie: "session=abc; theme=dark" },
      { authorization: "Bearer abc" },
      { "accept-language": "de" },
      { host: "evil.example" },
      { "x-forwarded-host": "evil.example", "x-forwarded-proto": "http", forwarded: "host=evil.example" },
      { "x-original-url": "/apps", "x-http-method-override": "POST" },
    ] as Record<string, string>[]) {
      const response = await fetch(`${web.url}/apps/northwind-scribe`, { headers });
      assert.equal(await response.text(), plain, JSON.stringify(headers));
      assert.deepEqual(response.headers.getSetCookie(), []);
    }
  });

  test("the policy allows scripts, styles and fonts of our own, pictures of the media origin, and nothing inline", async () => {
    const { headers } = await fetch(`${web.url}/`);
    const policy = headers.get("content-security-policy") ?? "";
    assert.doesNotMatch(policy, /unsafe|\*|data:/);
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self' https://media.example",
      "frame-ancestors 'none'",
    ]) {
      assert.ok(policy.split("; ").includes(rule), rule);
    }
  });

  test("assets are immutable, compressed, and within their budgets", async () => {
    const html = await (await fetch(`${web.url}/apps/northwind-scribe`)).text();
    const sizes = { js: 0, css: 0, woff2: 0 };
    const paths = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path = ""]) => path);
    assert.equal(paths.length, 4);
    for (const path of paths) {
      const response = await fetch(`${web.url}${path}`, { headers: { "accept-encoding": "gzip" } });
      assert.equal(response.headers.get("cache-control"), "public, max-age=31536000, immutable");
      const kind = path.slice(path.lastIndexOf(".") + 1) as keyof typeof sizes;
      const isSmallOrFont = kind === "woff2" || path.includes("theme");
      assert.equal(response.headers.get("content-encoding"), isSmallOrFont ? null : "gzip", path);
      sizes[kind] += (await response.arrayBuffer()).byteLength;
    }
    // Unpacked: the budget of scripts, 15 kB, is for the packed ones.
    assert.ok(sizes.js <= 15_000 && sizes.css <= 20_000, JSON.stringify(sizes));
  });

  test("an asset of another version is a 404 that no cache keeps, and the page is readable without it", async () => {
    for (const name of ["storefront-0abcdef1.css", "main-0abcdef1.js"]) {
      const response = await fetch(`${web.url}/assets/${name}`);
      const { headers } = response;
      assert.deepEqual([response.status, headers.get("cache-control"), headers.get("etag")], [404, "no-store", null]);
    }
    const html = await (await fetch(`${web.url}/apps/northwind-scribe`)).text();
    assert.match(html, /<h1[^>]*>Northwind Scribe<\/h1>/);
  });
});
