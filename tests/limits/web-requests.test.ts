import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { before, describe, test } from "node:test";
import { cleanUpAfter, readResponse, withClient } from "@ehr-marketplace/test-kit";
import { sendJson, startMarketplaceStub } from "@ehr-marketplace/tests/support/marketplace-stub";
import { startMarketplaceWithCallers } from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { startWebProcess } from "@ehr-marketplace/tests/support/service-process";
import { type RunningWeb, startWeb, type WebBrowser } from "@ehr-marketplace/tests/support/web";
import { assertQuick, type MeasuredService, type RawRequest, startMeasuredService } from "./event-loop.ts";
import { hostileRequests, type ServedRoute, type ValidRequest } from "./hostile-requests.ts";

const script = { "x-requested-with": "ehr-marketplace", "sec-fetch-site": "same-origin" };
const form = { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" };
const kib = (count: number): string => "x".repeat(count * 1_024);

/** A valid request for each route of the web itself. What it forwards is measured in the APIs. */
const rows: Record<string, ValidRequest> = {
  "GET /": { path: "/", headers: {} },
  "GET /apps": { path: "/apps?q=scribe&page=1", headers: {} },
  "GET /apps/:slug": { path: "/apps/northwind-scribe", headers: {} },
  "GET /apps/:slug/versions": { path: "/apps/northwind-scribe/versions", headers: {} },
  "GET /vendors/:slug": { path: "/vendors/northwind-health", headers: {} },
  "GET /assets/:name": { path: "/assets/none.js", headers: {} },
  "GET /favicon.svg": { path: "/favicon.svg", headers: {} },
  "GET /robots.txt": { path: "/robots.txt", headers: {} },
  "GET /sitemap.xml": { path: "/sitemap.xml", headers: {} },
  "GET /sitemaps/:number.xml": { path: "/sitemaps/1.xml", headers: {} },
  "GET /suggestions": { path: "/suggestions?q=scribe", headers: {} },
  "GET /console": { path: "/console", headers: {} },
  "GET /console/*": { path: "/console/nowhere", headers: {} },
  "GET /practice/*": { path: "/practice/riverside-clinic", headers: {} },
  "GET /login": { path: "/login?returnTo=/console", headers: {} },
  "GET /callback": { path: "/callback?code=abc&state=unknown", headers: {} },
  "POST /logout": { path: "/logout", headers: form },
  "POST /backchannel-logout": { path: "/backchannel-logout", headers: form },
  "GET /bff/session": { path: "/bff/session", headers: script },
};
const ofTheKit = new Set(["/health/live", "/health/ready", "/health", "/metrics", "/problems", "/problems/:code"]);
const routeOf = ({ method, url }: ServedRoute): string => `${method} ${url}`;

describe("no request blocks the web's event loop for 100 ms", () => {
  const cleanUp = cleanUpAfter();
  let web: RunningWeb;
  let service: MeasuredService;
  let served: readonly ServedRoute[];
  before(async () => {
    const marketplace = await startMarketplaceWithCallers(cleanUp);
    web = await startWeb(cleanUp, { marketplaceUrl: marketplace.url });
    served = web.server.routesAndAccess;
    const urls = { marketplaceUrl: marketplace.url, ehrUrl: "http://127.0.0.1:9" };
    service = await startMeasuredService(({ environment, nodeOptions }) =>
      startWebProcess(cleanUp, web.database.serviceUrl, {
        ...urls,
        identityProvider: web.identityProvider,
        environment,
        nodeOptions,
      }),
    );
  });

  test("every route that isn't forwarded has a row", () => {
    const own = served
      .filter(({ method, url }) => method !== "HEAD" && !/^\/bff\/(marketplace|ehr)\//.test(url))
      .filter(({ url }) => !ofTheKit.has(url));
    assert.deepEqual(new Set(own.map(routeOf)), new Set(Object.keys(rows)));
  });

  for (const [route, valid] of Object.entries(rows)) {
    test(route, async (t) => {
      const found = served.find((each) => routeOf(each) === route);
      assert.ok(found !== undefined, "the server doesn't have the route");
      const inputs = hostileRequests(found, valid);
      let worst = { cpuMs: 0, name: "" };
      for (const [name, sent] of inputs) {
        const { cpuMs } = await assertQuick((request) => service.measure(request), name, sent);
        if (cpuMs > worst.cpuMs) worst = { cpuMs, name };
      }
      t.diagnostic(`${inputs.length} requests; the worst took ${worst.cpuMs.toFixed(1)} ms: ${worst.name}`);
    });
  }

  test("signing out everywhere, by somebody with many sessions", async () => {
    const insertOthers = `
      insert into web.sessions
        (id, cookie_hash, issuer, subject, encrypted_tokens, access_expires_at, created_at, used_at)
      select gen_random_uuid(), sha256(n::text::bytea), issuer, subject, '1.' || repeat('A', 4000), now(), created_at, created_at
      from web.sessions, generate_series(1, 5000) n where subject = 'auditor'`;
    const measure = async (sent: RawRequest): Promise<{ status: number; cpuMs: number }> => {
      const browser = web.openBrowser();
      await web.signIn(browser, "auditor");
      await withClient(web.database.ownerUrl, (client) => client.query(insertOthers));
      const cookie = `session=${browser.cookies.get("session")}`;
      return service.measure({ ...sent, headers: { ...form, cookie } });
    };
    const sent = { method: "POST", path: "/logout", body: "everywhere=true" };
    const { status } = await assertQuick(measure, "POST /logout", sent);
    assert.equal(status, 303);
  });
});

test("a page of the slowest release notes keeps the event loop less than 100 ms at a time", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const marketplace = await startMarketplaceWithCallers(cleanUp);
  const slowest = "[".repeat(200) + "*".repeat(4_790);
  const listVersions = (after: string | null): unknown => ({
    items: Array.from({ length: 20 }, (_, nth) => ({
      version: `1.${nth}`,
      releaseNotes: `${slowest}${after}.${nth}`,
      publishedAt: "2026-11-01T12:00:00Z",
    })),
    next: null,
  });
  const withSlowNotes = await startMarketplaceStub(cleanUp, (request, response) => {
    const { pathname, search, searchParams } = new URL(request.url ?? "", marketplace.url);
    if (pathname.endsWith("/versions")) return sendJson(response, 200, listVersions(searchParams.get("after")));
    void fetch(`${marketplace.url}${pathname}${search}`)
      .then((found) => found.json())
      .then((body) => sendJson(response, 200, body));
  });
  const web = await startWeb(cleanUp);
  const service = await startMeasuredService(({ environment, nodeOptions }) =>
    startWebProcess(cleanUp, web.database.serviceUrl, {
      marketplaceUrl: new URL(withSlowNotes.url).origin,
      ehrUrl: "http://127.0.0.1:9",
      identityProvider: web.identityProvider,
      environment,
      nodeOptions,
    }),
  );
  let pages = 0;
  // Each page is one that the web hasn't rendered yet.
  const measure = (sent: RawRequest): ReturnType<MeasuredService["measure"]> =>
    service.measureLongestIteration({ ...sent, path: `${sent.path}?after=${(pages += 1)}` });
  const { status } = await assertQuick(measure, "the page", {
    method: "GET",
    path: "/apps/northwind-scribe/versions",
  });
  assert.equal(status, 200);
});

describe("the web refuses what is too large or too slow", () => {
  const cleanUp = cleanUpAfter();
  let web: RunningWeb;
  let impatient: RunningWeb;
  let admin: WebBrowser;
  before(async () => {
    const { url: marketplaceUrl } = await startMarketplaceWithCallers(cleanUp);
    web = await startWeb(cleanUp, { marketplaceUrl });
    const { database } = web;
    // Node looks for slow requests once a second.
    impatient = await startWeb(cleanUp, { marketplaceUrl, database, environment: { REQUEST_TIMEOUT_MS: "2000" } });
    admin = web.openBrowser();
    await web.signIn(admin, "riverside-admin");
  });
  const send = (text: string, { url } = web): Promise<Response> => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.write(text);
    return readResponse(socket);
  };
  const headersOf = (headers: Record<string, string>): string =>
    Object.entries({ host: "web", ...headers })
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join("");
  const session = (): Record<string, string> => ({ ...script, cookie: `session=${admin.cookies.get("session")}` });

  for (const path of ["/apps?q=", "/console/", "/bff/marketplace/apps/"]) {
    test(`a URL of 9 KiB: ${path}`, async () => {
      assert.equal(
        (await send(`GET ${path}${kib(9)} HTTP/1.1\r\n${headersOf({ connection: "close" })}\r\n`)).status,
        414,
      );
    });
  }

  test("cookies of 20 KiB, which a browser may have of other sites of the domain", async () => {
    const response = await send(`GET / HTTP/1.1\r\n${headersOf({ cookie: kib(20) })}\r\n`);
    assert.equal(response.status, 431);
  });

  for (const path of ["/logout", "/backchannel-logout"]) {
    test(`a form of 17 KiB: ${path}`, async () => {
      const response = await admin.open(path, { method: "POST", headers: form, body: `a=${kib(17)}` });
      assert.equal(response.status, 413);
      assert.equal((await admin.call("/bff/session")).status, 200, "nothing has happened");
    });
  }

  test("a body that is larger than the API allows is refused by the API, whose response comes back", async () => {
    const response = await admin.call("/bff/marketplace/subscriptions", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ appSlug: kib(17) }),
    });
    assert.equal(response.status, 413);
  });

  for (const [what, path, headers] of [
    ["headers that never end", "/", undefined],
    ["a form that never ends", "/logout", { ...form, "content-length": "100" }],
    ["a forwarded body that never ends", "/bff/marketplace/subscriptions", { "content-length": "100" }],
  ] as const) {
    test(`${what}: the connection is closed after the time limit`, async () => {
      const given = { ...session(), "content-type": "application/json", ...headers };
      const end = headers === undefined ? "" : "\r\n{";
      const response = await send(`POST ${path} HTTP/1.1\r\n${headersOf(given)}${end}`, impatient);
      assert.equal(response.status, 408);
    });
  }

  test("an API that never ends its response doesn't keep the request: the connection is closed", async (t) => {
    const upstream = createServer((_request, response) => void response.writeHead(200).write("{")).listen(
      0,
      "127.0.0.1",
    );
    await once(upstream, "listening");
    t.after(() => upstream.closeAllConnections());
    t.after(() => upstream.close());
    const ehrUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    const { database } = web;
    const slow = await startWeb(cleanUp, { ehrUrl, database, environment: { REQUEST_TIMEOUT_MS: "5000" } });
    const browser = slow.openBrowser();
    browser.cookies.set("session", admin.cookies.get("session") ?? "");
    const response = await browser.call("/bff/ehr/app-installations");
    await assert.rejects(response.text());
  });
});
