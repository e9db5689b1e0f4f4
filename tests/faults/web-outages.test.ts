import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { startIdentityProvider } from "@ehr-marketplace/dev/identity-provider";
import { cleanUpAfter, eventually, withClient } from "@ehr-marketplace/test-kit";
import { type InterruptibleWeb, startInterruptibleWeb } from "@ehr-marketplace/tests/support/interruptible-web";
import { startWeb, type WebBrowser } from "@ehr-marketplace/tests/support/web";

const patienceMs = 120_000;
const sameOrigin = { "sec-fetch-site": "same-origin" };
const publicPages = ["/", "/apps", "/apps/northwind-scribe", "/vendors/northwind-health"];
const subscriptions = "/bff/marketplace/subscriptions?orgAlias=riverside-clinic";
const installations = "/bff/ehr/app-installations";
const practice = { headers: { "x-org-alias": "riverside-clinic" } };

interface Answer {
  status: number;
  html: string;
}

/** What a person sees who opens the page, with quotes as they are written. */
async function open(browser: WebBrowser, path: string, request: RequestInit = {}): Promise<Answer> {
  const response = await browser.open(path, request);
  assert.match(response.headers.get("content-type") ?? "text/html", /^text\/html/, path);
  return { status: response.status, html: (await response.text()).replaceAll("&#x27;", "'") };
}

/** The status, and the code of a problem document. */
async function call(browser: WebBrowser, path: string, request: RequestInit = {}): Promise<[number, string?]> {
  const response = await browser.call(path, request);
  if (response.ok) return [response.status];
  assert.equal(response.headers.get("content-type"), "application/problem+json", path);
  return [response.status, ((await response.json()) as { code: string }).code];
}

/** Each test ends the outage that it begins. */
describe("the web during an outage", () => {
  const cleanUp = cleanUpAfter();
  let services: InterruptibleWeb;
  before(async () => {
    services = await startInterruptibleWeb(cleanUp);
  });

  const signedIn = async (): Promise<WebBrowser> => {
    const { web } = services;
    const browser = web.openBrowser();
    assert.equal((await web.signIn(browser, "riverside-admin")).status, 200);
    return browser;
  };
  const isReady = async (): Promise<boolean> => (await fetch(`${services.web.url}/health/ready`)).status === 200;
  const assertShell = async (browser: WebBrowser): Promise<void> =>
    assert.equal((await open(browser, "/practice/riverside-clinic")).status, 200, "the console's page");
  /** After an outage, everything works without a restart. */
  const assertRecovered = async (browser: WebBrowser): Promise<void> => {
    await eventually("everything works", patienceMs, async () => {
      const calls = [await call(browser, subscriptions), await call(browser, installations, practice)];
      return calls.every(([status]) => status === 200) && (await isReady());
    });
  };

  test("of the EHR: subscriptions, public pages and signing in work, and what is installed is said to be unavailable", async () => {
    const { ehr } = services;
    const browser = await signedIn();
    ehr.interrupt("reset");
    assert.deepEqual(await call(browser, installations, practice), [503, "upstream-unavailable"]);
    assert.deepEqual(await call(browser, subscriptions), [200]);
    for (const path of publicPages) assert.equal((await open(browser, path)).status, 200, path);
    await assertShell(browser);
    assert.ok(await isReady());
    await signedIn();
    ehr.restore();
    await assertRecovered(browser);
  });

  test("of an EHR that doesn't answer: the error names it before the request's time is over", async () => {
    const { ehr } = services;
    const browser = await signedIn();
    ehr.interrupt("drop");
    assert.deepEqual(await call(browser, installations, practice), [503, "upstream-unavailable"]);
    ehr.restore();
    await assertRecovered(browser);
  });

  test("of the marketplace: what is installed, the session and signing in work, and pages say what doesn't", async () => {
    const { marketplace } = services;
    const browser = await signedIn();
    marketplace.interrupt("reset");
    assert.deepEqual(await call(browser, subscriptions), [503, "upstream-unavailable"]);
    assert.deepEqual(await call(browser, installations, practice), [200]);
    assert.deepEqual(await call(browser, "/bff/session"), [200]);
    const unread = await open(browser, "/apps/referral-bridge");
    assert.equal(unread.status, 503);
    assert.match(unread.html, /The catalog can't be read at the moment.*keep working, and so does signing in/s);
    await assertShell(browser);
    assert.ok(await isReady());
    await signedIn();
    marketplace.restore();
    await assertRecovered(browser);
  });

  test("of the identity provider: who is signed in goes on, sign-in and sign-out are pages that say what doesn't work", async () => {
    const { web, provider } = services;
    const [browser, leaving] = [await signedIn(), await signedIn()];
    const port = Number(new URL(provider.issuer).port);
    const begun = web.openBrowser();
    const { headers } = await begun.open("/login");
    const state = new URL(headers.get("location") ?? "").searchParams.get("state");
    await provider.stop();
    assert.deepEqual(await call(browser, subscriptions), [200]);
    for (const path of publicPages) assert.equal((await open(browser, path)).status, 200, path);
    await assertShell(browser);
    assert.ok(await isReady());
    for (const path of ["/login?returnTo=/console", `/callback?code=abc&state=${state}&iss=${provider.issuer}`]) {
      const { status, html } = await open(begun, path);
      assert.equal(status, 503, path);
      assert.match(html, /Signing in doesn't work at the moment.*The identity provider doesn't respond/s, path);
    }
    const out = await open(leaving, "/logout", { method: "POST", headers: sameOrigin });
    assert.equal(out.status, 200);
    assert.match(out.html, /You are signed out here.*you may still be signed in there/s);
    assert.equal(leaving.cookies.get("session"), undefined);

    await withClient(web.database.ownerUrl, (client) =>
      client.query("update web.sessions set access_expires_at = now()"),
    );
    assert.deepEqual(await call(browser, subscriptions), [503, "sign-in-unavailable"]);
    assert.deepEqual(await call(browser, "/bff/session"), [503, "sign-in-unavailable"]);
    const successor = await startIdentityProvider({ port, keys: provider.keys });
    cleanUp(() => successor.stop());
    // It knows none of the refresh tokens, as after a restart without storage.
    assert.deepEqual(await call(browser, subscriptions), [401, "session-required"]);
    await assertRecovered(await signedIn());
  });

  test("of PostgreSQL: public pages work, and signing in or out are pages that say what doesn't", async () => {
    const { web, database } = services;
    const [browser, leaving, arriving] = [await signedIn(), await signedIn(), web.openBrowser()];
    const copied = leaving.cookies.get("session") ?? "";
    database.interrupt("reset");
    for (const path of publicPages) assert.equal((await open(browser, path)).status, 200, path);
    await assertShell(browser);
    assert.ok(await isReady(), "a proxy would take all processes out of use, and the public pages with them");
    for (const path of ["/bff/session", subscriptions])
      assert.deepEqual(await call(browser, path), [503, "unavailable"]);
    assert.deepEqual(await call(web.openBrowser(), subscriptions), [401, "session-required"]);

    const callback = await web.signIn(arriving, "riverside-admin");
    assert.deepEqual([callback.status, callback.headers.get("retry-after")], [503, "5"]);
    assert.match(callback.headers.get("content-type") ?? "", /^text\/html/);
    assert.match(await callback.text(), /Your sign-in was accepted, but can&#x27;t be kept/);
    assert.equal(arriving.cookies.get("session"), undefined);

    const out = await open(leaving, "/logout", { method: "POST", headers: sameOrigin });
    assert.equal(out.status, 503);
    assert.match(out.html, /You are signed out in this browser only.*the session itself goes on/s);
    assert.equal(leaving.cookies.get("session"), undefined, "the browser forgets it in any case");

    database.restore();
    await assertRecovered(browser);
    const thief = web.openBrowser();
    thief.cookies.set("session", copied);
    assert.deepEqual(await call(thief, subscriptions), [200], "what the page has said is true");
  });

  test("a process that starts while PostgreSQL is down isn't ready until it is back", async () => {
    const { web, database } = services;
    database.interrupt("reset");
    const second = await startWeb(cleanUp, { database: web.database, databaseUrl: database.url });
    const status = async (): Promise<number> => (await fetch(`${second.url}/health/ready`)).status;
    assert.equal(await status(), 503);
    database.restore();
    await eventually("it is ready", patienceMs, async () => (await status()) === 200);
  });
});
