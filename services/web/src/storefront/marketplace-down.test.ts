import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { cleanUpAfter, cloneDatabase } from "@ehr-marketplace/test-kit";
import { startMarketplace } from "@ehr-marketplace/tests/support/marketplace";
import { sendJson, startMarketplaceStub } from "@ehr-marketplace/tests/support/marketplace-stub";
import { startWeb } from "@ehr-marketplace/tests/support/web";
import { createCatalogClient } from "../catalog/catalog-client.ts";
import { loadBuiltPages } from "./built-pages.ts";
import { createPageRenderer } from "./render-page.ts";

const accept = { headers: { accept: "text/html" } };

test("without the marketplace, pages say what works and when to come back", async (t) => {
  const web = await startWeb(cleanUpAfter(t));
  for (const path of ["/", "/apps", "/apps/northwind-scribe", "/vendors/northwind-health"]) {
    const response = await fetch(`${web.url}${path}`, accept);
    assert.deepEqual([response.status, response.headers.get("retry-after")], [503, "5"], path);
    const html = await response.text();
    assert.doesNotMatch(html, /For vendors/, "without VENDORS_URL there is no link");
    assert.match(html, /catalog can&#x27;t be read at the moment.*keep working, and so does signing in/s);
  }
  const problem = await fetch(`${web.url}/apps`);
  assert.equal(((await problem.json()) as { code: string }).code, "upstream-unavailable");
});

test("an app's page is shown without the parts that can't be read", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { serviceUrl } = await cloneDatabase(cleanUp, "demo");
  const marketplace = await startMarketplace(cleanUp, serviceUrl);
  const { url } = await startProxy(t, marketplace.url, (path) => path.endsWith("/apps/northwind-scribe"));
  const web = await startWeb(cleanUp, { marketplaceUrl: url });
  const response = await fetch(`${web.url}/apps/northwind-scribe`, accept);
  assert.equal(response.status, 200);
  assert.match(await response.text(), /The plans can&#x27;t be read at the moment/);
});

test("a reader who has opened too many pages is told so, and when to come back", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const stub = await startMarketplaceStub(cleanUp, (_request, response) =>
    sendJson(response, 429, {}, { "retry-after": "7" }),
  );
  const web = await startWeb(cleanUp, { marketplaceUrl: new URL(stub.url).origin });
  for (const path of ["/", "/apps", "/apps/northwind-scribe", "/vendors/northwind-health", "/sitemap.xml"]) {
    const response = await fetch(`${web.url}${path}`, accept);
    const { status, headers } = response;
    assert.deepEqual([status, headers.get("retry-after"), headers.get("cache-control")], [429, "7", "no-store"], path);
    assert.match(await response.text(), /Too many pages were opened at once.*Wait a minute/s);
  }
});

test("a page with stale data says how old it is, and is cached for seconds only", async (t) => {
  const { url, server } = await startProxy(t, undefined, () => true);
  let now = Date.parse("2026-11-17T12:00:00Z");
  const clock = (): Date => new Date(now);
  const logger = { warn: () => undefined };
  const client = createCatalogClient({ marketplaceUrl: url, logger, clock, timeoutMs: 60_000 });
  const built = await loadBuiltPages();
  const site = { publicUrl: "https://apps.example", vendorsUrl: undefined, supportUrl: undefined };
  const render = createPageRenderer({ ...site, headers: {}, assets: built.urls, clock });
  const home = { categories: [], featured: [], newest: [], popular: [] };
  const renderHome = async () => {
    const readings = [await client.read({ path: "/apps/featured", clientAddress: "203.0.113.7" })];
    return render({ path: "/", readings, write: (context) => built.pages.home(home, context) });
  };
  const fresh = await renderHome();
  assert.equal(await renderHome(), fresh, "it isn't rendered twice");
  server.closeAllConnections();
  server.close();
  now += 180_000;
  const stale = await renderHome();
  assert.equal(stale.cacheControl, "public, max-age=5");
  assert.match(stale.plain.body.toString(), /as it was 3 minutes ago, at Nov 17, 2026, 12:00/);
});

/** Forwards the paths that it serves, and fails for others. Without a target it responds with an empty list. */
async function startProxy(
  t: TestContext,
  target: string | undefined,
  serves: (path: string) => boolean,
): Promise<{ url: string; server: Server }> {
  const server = createServer((request, response) => {
    const { url = "" } = request;
    if (!serves(url)) response.writeHead(503).end();
    else if (target === undefined) response.writeHead(200, { etag: '"1"' }).end("[]");
    else
      void fetch(`${target}${url}`)
        .then((forwarded) => forwarded.text())
        .then((body) => response.end(body));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}
