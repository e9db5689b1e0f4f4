import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { before, describe, test } from "node:test";
import { operations } from "@ehr-marketplace/client/operations";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { startMarketplaceWithCallers } from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { type RunningWeb, startWeb, type WebBrowser } from "@ehr-marketplace/tests/support/web";

interface OpenApiDocument {
  paths: Record<string, Record<string, { parameters?: { in: string; name: string }[] }>>;
}

/** Those that the operations have which pages may call. */
async function listHeaderParameters(service: "ehr" | "marketplace"): Promise<string[]> {
  const file = new URL(`../../../${service}/openapi.json`, import.meta.url);
  const { paths } = JSON.parse(await readFile(file, "utf8")) as OpenApiDocument;
  return Object.entries(paths)
    .filter(([path]) => !path.includes("/internal/"))
    .flatMap(([, operationsOfPath]) => Object.values(operationsOfPath))
    .flatMap(({ parameters = [] }) => parameters)
    .filter((parameter) => parameter.in === "header")
    .map(({ name }) => name.toLowerCase());
}

/** The status of a request whose path is sent as it is; `fetch` would resolve dots. */
async function getVerbatim({ url }: RunningWeb, { cookies }: WebBrowser, path: string): Promise<number | undefined> {
  const headers = { "x-requested-with": "ehr-marketplace", cookie: `session=${cookies.get("session")}` };
  const sent = request(url, { path, headers }).end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

describe("requests of our pages are forwarded to the marketplace", () => {
  const cleanUp = cleanUpAfter();
  let web: RunningWeb;
  let admin: WebBrowser;
  before(async () => {
    const marketplace = await startMarketplaceWithCallers(cleanUp);
    web = await startWeb(cleanUp, { marketplaceUrl: marketplace.url });
    admin = web.openBrowser();
    await web.signIn(admin, "riverside-admin");
  });

  test("with the session's token: reading, writing, and the API's own errors", async () => {
    const list = await admin.call("/bff/marketplace/subscriptions?orgAlias=riverside-clinic&limit=1");
    assert.equal(list.status, 200);
    assert.equal(list.headers.get("cache-control"), "no-store");
    assert.ok(Array.isArray(await list.json()));
    const forbidden = await admin.call("/bff/marketplace/subscriptions?orgAlias=hilltop-family-practice");
    assert.equal(forbidden.status, 403);
    assert.equal(((await forbidden.json()) as { code: string }).code, "forbidden");
    const estimate = await admin.call("/bff/marketplace/apps/northwind-scribe/estimate", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ pricingPlanId: "00000000-0000-0000-0000-000000000000" }),
    });
    assert.equal(estimate.status, 422);
  });

  test("only with a session", async () => {
    const response = await web.openBrowser().call("/bff/marketplace/subscriptions?orgAlias=riverside-clinic");
    assert.equal(response.status, 401);
    assert.equal(((await response.json()) as { code: string }).code, "session-required");
  });

  test("not for a page that was loaded for somebody else, whatever they have entered there", async () => {
    const browser = web.openBrowser();
    await web.signIn(browser, "riverside-admin");
    const personOf = async (): Promise<string> =>
      ((await (await browser.call("/bff/session")).json()) as { person: string }).person;
    const list = "/bff/marketplace/subscriptions?orgAlias=riverside-clinic";
    const headers = { "x-session-person": await personOf() };
    assert.equal((await browser.call(list, { headers })).status, 200);
    await web.signIn(browser, "two-practices");
    assert.notEqual(await personOf(), headers["x-session-person"]);
    const refused = await browser.call(list, { headers });
    assert.equal(refused.status, 409);
    assert.equal(((await refused.json()) as { code: string }).code, "session-changed");
    await web.signIn(browser, "riverside-admin");
    assert.equal((await browser.call(list, { headers })).status, 200, "the same person has signed in again");
  });

  for (const [what, headers] of [
    ["a page of another site", { "sec-fetch-site": "cross-site" }],
    ["a page of another origin, in an old browser", { "sec-fetch-site": "", origin: "https://evil.example" }],
    ["something without the header of our scripts", { "x-requested-with": "" }],
  ] as [string, Record<string, string>][]) {
    test(`not for ${what}`, async () => {
      const response = await admin.call("/bff/marketplace/subscriptions?orgAlias=riverside-clinic", { headers });
      assert.equal(response.status, 403);
      assert.equal(((await response.json()) as { code: string }).code, "cross-origin");
    });
  }

  for (const path of [
    "/bff/marketplace/openapi.json",
    "/bff/marketplace/unknown",
    "/bff/marketplace/../../metrics",
    "/bff/marketplace/%2e%2e/%2e%2e/metrics",
    "/bff/marketplace/..%2f..%2fmetrics",
    "/bff/marketplace//apps",
    "/bff/ehr/x/../internal/app-clients",
    "/bff/marketplace",
    "/bff/ehr/internal/marketplace-webhook",
    "/bff/ehr/internal/app-clients",
    "/bff/other/apps",
  ]) {
    test(`not to a path that isn't in the documents: ${path}`, async () => {
      assert.equal(await getVerbatim(web, admin, path), 404);
    });
  }

  test("not with a method that isn't in the documents", async () => {
    assert.equal((await admin.call("/bff/marketplace/apps", { method: "DELETE" })).status, 405);
  });

  test("says which service can't be reached", async () => {
    const response = await admin.call("/bff/ehr/app-installations");
    assert.equal(response.status, 503);
    const { code, detail } = (await response.json()) as { code: string; detail: string };
    assert.deepEqual([code, detail], ["upstream-unavailable", "The EHR can't be reached, or responds too slowly."]);
    assert.equal(response.headers.get("retry-after"), "2");
  });
});

describe("a forwarded request", () => {
  const cleanUp = cleanUpAfter();
  let web: RunningWeb;
  let browser: WebBrowser;
  let received: IncomingMessage[];
  before(async () => {
    received = [];
    const upstream = createServer((incoming, response) => {
      received.push(incoming);
      if (incoming.url?.includes("overloaded")) return void response.writeHead(503, { "retry-after": "2" }).end("{}");
      response.writeHead(200, { "set-cookie": "session=stolen", server: "upstream", etag: '"1"' }).end("{}");
    });
    upstream.listen(0, "127.0.0.1");
    await once(upstream, "listening");
    cleanUp(async () => void upstream.close());
    const ehrUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    web = await startWeb(cleanUp, { ehrUrl });
    browser = web.openBrowser();
    await web.signIn(browser, "riverside-admin");
  });

  test("has what the API needs, and nothing else of the browser", async () => {
    const response = await browser.call("/bff/ehr/app-installations?limit=1", {
      headers: {
        accept: "application/json",
        "x-org-alias": "riverside-clinic",
        "x-forwarded-for": "203.0.113.1",
        dnt: "1",
      },
    });
    const { url, headers } = received.at(-1) as IncomingMessage;
    assert.equal(url, "/api/app-installations?limit=1");
    assert.match(headers.authorization ?? "", /^Bearer eyJ/);
    assert.equal(headers["x-org-alias"], "riverside-clinic");
    assert.equal(headers["x-forwarded-for"], "127.0.0.1");
    assert.equal(headers["x-request-id"], response.headers.get("x-request-id"));
    for (const name of ["cookie", "dnt", "sec-fetch-site", "x-requested-with"]) assert.equal(headers[name], undefined);
  });

  test("has each header that an operation of the documents has as a parameter", async () => {
    const names = new Set([...(await listHeaderParameters("marketplace")), ...(await listHeaderParameters("ehr"))]);
    for (const name of ["idempotency-key", "x-org-alias", "x-vendor-slug"]) assert.ok(names.has(name), name);
    const sent = Object.fromEntries([...names].map((name) => [name, `"${name}"`]));
    await browser.call("/bff/ehr/app-installations", { headers: sent });
    const { headers } = received.at(-1) as IncomingMessage;
    assert.deepEqual(Object.fromEntries([...names].map((name) => [name, headers[name]])), sent);
  });

  test("gets what the page needs, and no cookie of the API's", async () => {
    const response = await browser.call("/bff/ehr/app-installations");
    assert.equal(response.headers.get("etag"), '"1"');
    assert.deepEqual(response.headers.getSetCookie(), []);
    assert.equal(response.headers.get("server"), null);
  });

  test("has one path only, however a parameter is written", async () => {
    await browser.call("/bff/ehr/app-installations/a%2fb..%3fc%23d%25/installed");
    assert.equal(received.at(-1)?.url, "/api/app-installations/a%2Fb..%3Fc%23d%25/installed");
  });

  test("isn't repeated while the API sheds load: that is the page's decision", async () => {
    const count = received.length;
    const response = await browser.call("/bff/ehr/app-installations/overloaded/installed");
    assert.equal(response.status, 503);
    assert.equal(received.length, count + 1);
  });

  test("has the query as it was sent, whatever it is", async () => {
    for (const query of ["?q=../../x", "?q=%", "?q=%2e%2e/&q=&&", "?q=%E0%A4%A"]) {
      assert.equal(await getVerbatim(web, browser, `/bff/ehr/app-installations${query}`), 200);
      assert.equal(received.at(-1)?.url, `/api/app-installations${query}`);
    }
  });

  for (const dots of [".", "..", "%2e", "%2e%2e", "%2E.", "a%2f..%2fb", "..%2f..%2finternal", "%5c..%5c"]) {
    test(`isn't forwarded if a parameter is ${dots}, which leads to another path`, async () => {
      const count = received.length;
      assert.equal(await getVerbatim(web, browser, `/bff/ehr/app-installations/${dots}/installed`), 400);
      assert.equal(received.length, count);
    });
  }
});

test("every operation of the documents has a route, except for those of machines", async (t) => {
  const web = await startWeb(cleanUpAfter(t));
  for (const [service, listed] of Object.entries(operations)) {
    for (const { method, path } of listed) {
      const url = `/bff/${service}${path.replaceAll(/\{(\w+)\}/g, ":$1")}`;
      const isServed = web.server.hasRoute({ method, url });
      assert.equal(isServed, !path.startsWith("/internal/"), `${method} ${url}`);
    }
  }
});
