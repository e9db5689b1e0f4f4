import assert from "node:assert/strict";
import { test } from "node:test";
import { cleanUpAfter, cloneDatabase, eventually, tokenPattern, withClient } from "@ehr-marketplace/test-kit";
import { fetchCallers } from "@ehr-marketplace/tests/support/callers";
import { startMarketplaceWithCallers } from "@ehr-marketplace/tests/support/marketplace-with-callers";
import { startWebProcess } from "@ehr-marketplace/tests/support/service-process";
import { createBrowser, signIn } from "@ehr-marketplace/tests/support/web";

const unreachable = "http://127.0.0.1:9";

test("no log has a token, a cookie, a code or what a sign-in is completed with, however much is logged", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const { identityProvider } = await fetchCallers();
  const database = await cloneDatabase(cleanUp, "web");
  const marketplace = await startMarketplaceWithCallers(cleanUp);
  const { url, logEntries } = await startWebProcess(cleanUp, database.serviceUrl, {
    marketplaceUrl: marketplace.url,
    ehrUrl: unreachable,
    identityProvider,
    environment: { LOG_LEVEL: "trace" },
  });
  const browser = createBrowser(url);
  const secrets = new Set<string>();
  const remember = (): void => {
    for (const [name, value] of browser.cookies)
      if (name === "session" || name.startsWith("sign-in-")) secrets.add(value);
  };

  const begun = await browser.open("/login?returnTo=/console");
  remember();
  const { searchParams } = new URL(begun.headers.get("location") ?? "");
  for (const name of ["state", "nonce", "code_challenge"]) secrets.add(searchParams.get(name) ?? "");
  const refused = `/callback?code=a-code-of-nobody&state=${searchParams.get("state")}&iss=${identityProvider.issuer}`;
  assert.equal((await browser.open(refused)).status, 403);
  secrets.add("a-code-of-nobody");

  assert.equal((await signIn(browser, "riverside-admin")).status, 200);
  remember();
  for (const [path, status] of [
    ["/bff/session", 200],
    ["/bff/marketplace/subscriptions?orgAlias=riverside-clinic", 200],
    ["/bff/marketplace/subscriptions?orgAlias=hilltop-family-practice", 403],
    ["/bff/ehr/app-installations", 503],
  ] as const) {
    assert.equal((await browser.call(path)).status, status, path);
  }
  await withClient(database.ownerUrl, (client) => client.query("update web.sessions set access_expires_at = now()"));
  assert.equal((await browser.call("/bff/session")).status, 200, "the tokens are refreshed");
  const body = new URLSearchParams({ logout_token: "eyJhbGciOiJub25lIn0.eyJzdWIiOiJub2JvZHkifQ." });
  assert.equal((await fetch(`${url}/backchannel-logout`, { method: "POST", body })).status, 400);
  const headers = { "sec-fetch-site": "same-origin" };
  assert.equal((await browser.open("/logout", { method: "POST", headers })).status, 303);

  const read = (): string => JSON.stringify(logEntries);
  await eventually("the last request is logged", 60_000, () => read().includes('"/logout"'));
  const log = read();
  assert.ok(secrets.size >= 6, "the secrets are known");
  for (const secret of secrets) assert.ok(secret.length > 10 && !log.includes(secret), `the log has ${secret}`);
  assert.doesNotMatch(log, tokenPattern);
});
