import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { assertSecurityHeaders, cleanUpAfter, cloneDatabase } from "@ehr-marketplace/test-kit";
import { startMarketplace } from "@ehr-marketplace/tests/support/marketplace";
import { type RunningWeb, startWeb } from "@ehr-marketplace/tests/support/web";

/** A path for each route that a browser can open, and the pages of errors. */
const paths: Record<string, string> = {
  "/": "/",
  "/apps": "/apps?q=scribe",
  "/apps/:slug": "/apps/northwind-scribe",
  "/apps/:slug/versions": "/apps/northwind-scribe/versions",
  "/vendors/:slug": "/vendors/northwind-health",
  "/console": "/console",
  "/console/*": "/console/nowhere",
  "/practice/*": "/practice/riverside-clinic",
  "/login": "/login",
  "/callback": "/callback?code=abc&state=unknown",
  "/health": "/health",
  "/problems": "/problems",
  "/problems/:code": "/problems/session-required",
  "not found": "/nowhere",
  "an app that doesn't exist": "/apps/no-such-app",
  "an invalid query": "/apps?page=x",
  "another method": "/logout",
  "an API that isn't for navigation": "/bff/session",
};
/** Not pages. */
const others =
  /^\/(bff\/(marketplace|ehr)\/.*|bff\/session|assets\/:name|favicon\.svg|robots\.txt|sitemap.*|suggestions|health\/(live|ready)|metrics)$/;

describe("every page", () => {
  const cleanUp = cleanUpAfter();
  let web: RunningWeb;
  before(async () => {
    const { serviceUrl } = await cloneDatabase(cleanUp, "demo");
    const { url: marketplaceUrl } = await startMarketplace(cleanUp, serviceUrl);
    web = await startWeb(cleanUp, { marketplaceUrl });
  });

  test("is in this list", () => {
    const served = web.server.routesAndAccess.filter(({ method }) => method === "GET").map(({ url }) => url);
    assert.deepEqual(
      served.filter((url) => !others.test(url) && paths[url] === undefined),
      [],
    );
  });

  for (const [name, path] of Object.entries(paths)) {
    test(`can't be framed, has a policy without inline code, and isn't sniffed: ${name}`, async () => {
      const response = await web.openBrowser().open(path);
      assertSecurityHeaders(response);
      const policy = response.headers.get("content-security-policy") ?? "";
      assert.doesNotMatch(policy, /unsafe-|\*/);
      assert.equal(response.headers.get("access-control-allow-credentials"), null);
    });
  }

  for (const path of ["/nowhere", "/apps/no-such-app", "/apps?page=x", "/callback?code=abc&state=unknown"]) {
    test(`that says what went wrong isn't cached, and sets no session: ${path}`, async () => {
      const { headers } = await web.openBrowser().open(path);
      assert.equal(headers.get("cache-control"), "no-store");
      assert.deepEqual(headers.getSetCookie(), []);
    });
  }

  for (const returnTo of ["//evil.example", "https://evil.example/", "/\\evil.example", "javascript:alert(1)"]) {
    test(`after sign-in is one of ours: ${returnTo}`, async () => {
      const browser = web.openBrowser();
      const response = await web.signIn(browser, "operator", { returnTo });
      assert.equal(response.headers.get("refresh"), `0; url=${web.url}/`);
      assert.doesNotMatch(await response.text(), /evil|javascript/);
    });
  }
});
