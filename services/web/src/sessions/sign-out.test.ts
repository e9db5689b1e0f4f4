import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { freePort } from "@ehr-marketplace/dev/free-port";
import { openBrowser, startIdentityProvider } from "@ehr-marketplace/dev/identity-provider";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { signToken } from "@ehr-marketplace/tests/support/forged-tokens";
import { type RunningWeb, startWeb, type WebBrowser } from "@ehr-marketplace/tests/support/web";
import { readRefreshTokens, refresh } from "./refresh-tokens.test-support.ts";

const sameOrigin = { "sec-fetch-site": "same-origin" };

const isSignedIn = async (browser: WebBrowser): Promise<boolean> =>
  ((await (await browser.call("/bff/session")).json()) as { signedIn: boolean }).signedIn;

const post = (browser: WebBrowser, headers: Record<string, string>, body?: URLSearchParams): Promise<Response> =>
  browser.open("/logout", { method: "POST", headers, ...(body && { body }) });

describe("signing out", () => {
  const cleanUp = cleanUpAfter();
  let web: RunningWeb;
  before(async () => {
    web = await startWeb(cleanUp);
  });
  const signedIn = async (persona: "operator" | "auditor" | "billing"): Promise<WebBrowser> => {
    const browser = web.openBrowser();
    await web.signIn(browser, persona);
    return browser;
  };

  test("ends the session, also for whoever has copied the cookie, and goes on to the identity provider", async () => {
    const [browser, thief] = [await signedIn("operator"), web.openBrowser()];
    thief.cookies.set("session", browser.cookies.get("session") ?? "");
    assert.equal(await isSignedIn(thief), true);
    const response = await post(browser, sameOrigin);
    assert.equal(response.status, 303);
    const target = new URL(response.headers.get("location") ?? "");
    assert.equal(target.origin, web.identityProvider.issuer);
    assert.equal(target.searchParams.get("post_logout_redirect_uri"), `${web.url}/`);
    assert.ok(!target.search.includes("eyJ"), "no token is in the URL");
    assert.equal(browser.cookies.get("session"), undefined);
    assert.equal(await isSignedIn(thief), false);
  });

  test("everywhere ends the user's sessions of all browsers, and nobody else's", async () => {
    const [one, other, another] = [await signedIn("auditor"), await signedIn("auditor"), await signedIn("billing")];
    await post(one, sameOrigin, new URLSearchParams({ everywhere: "true" }));
    assert.deepEqual(await Promise.all([one, other, another].map(isSignedIn)), [false, false, true]);
  });

  test("everywhere revokes the refresh tokens of all those sessions at the identity provider", async () => {
    const [one, other] = [await signedIn("auditor"), await signedIn("auditor")];
    const tokens = await readRefreshTokens(web, "auditor");
    assert.equal(tokens.length, 2);
    assert.equal((await other.call("/bff/session")).status, 200);
    await post(one, sameOrigin, new URLSearchParams({ everywhere: "true" }));
    for (const token of tokens) assert.equal(await refresh(web, token), "invalid_grant");
  });

  test("works from a page that sends no referrer, and therefore the origin null", async () => {
    const browser = await signedIn("operator");
    assert.equal((await post(browser, { ...sameOrigin, origin: "null" })).status, 303);
    assert.equal(await isSignedIn(browser), false);
  });

  for (const [what, headers] of [
    ["a form of another site", { "sec-fetch-site": "cross-site", origin: "https://evil.example" }],
    ["a form of another origin in an old browser", { origin: "https://evil.example" }],
    ["a form without an origin in an old browser", { origin: "null" }],
    ["a form that doesn't say where it is", {}],
  ] as [string, Record<string, string>][]) {
    test(`can't be caused by ${what}`, async () => {
      const browser = await signedIn("operator");
      assert.equal((await post(browser, headers)).status, 403);
      assert.equal(await isSignedIn(browser), true);
    });
  }

  describe("at the identity provider", () => {
    const event = "http://schemas.openid.net/event/backchannel-logout";
    const now = (): number => Math.floor(Date.now() / 1_000);
    const claims = (): Record<string, unknown> => ({
      iss: web.identityProvider.issuer,
      aud: "marketplace-web",
      iat: now(),
      exp: now() + 120,
      jti: "1",
      events: { [event]: {} },
    });
    const send = async (token: Record<string, unknown>): Promise<number> => {
      const body = new URLSearchParams({ logout_token: await signToken(web, token) });
      return (await fetch(`${web.url}/backchannel-logout`, { method: "POST", body })).status;
    };

    test("ends the user's sessions here, and a repeated token ends no later one", async () => {
      const browser = await signedIn("auditor");
      const token = { ...claims(), sub: "auditor" };
      assert.equal(await send(token), 200);
      assert.equal(await isSignedIn(browser), false);
      const repeated = { ...claims(), sub: "auditor", iat: now() - 60 };
      const later = await signedIn("auditor");
      assert.equal(await send(repeated), 200);
      assert.equal(await isSignedIn(later), true);
    });

    for (const [what, change] of [
      ["that isn't about a sign-out", { events: {} }],
      ["for another client", { aud: "another" }],
      ["of another issuer", { iss: "https://evil.example" }],
      ["that is an ID token", { nonce: "1" }],
      ["that names nobody", { sub: undefined }],
      ["that is old", { iat: 1_000_000_000 }],
      ["that has expired", { exp: 1_000_000_000 }],
    ] as [string, Record<string, unknown>][]) {
      test(`a token ${what} is refused`, async () => {
        const browser = await signedIn("billing");
        assert.equal(await send({ ...claims(), sub: "billing", ...change }), 400);
        assert.equal(await isSignedIn(browser), true);
      });
    }

    test("a token that somebody else has signed is refused", async () => {
      const body = new URLSearchParams({ logout_token: "eyJhbGciOiJub25lIn0.e30." });
      assert.equal((await fetch(`${web.url}/backchannel-logout`, { method: "POST", body })).status, 400);
    });
  });
});

describe("with an identity provider that knows the web", () => {
  const cleanUp = cleanUpAfter();
  let web: RunningWeb;
  before(async () => {
    const port = await freePort();
    const identityProvider = await startIdentityProvider({
      port: await freePort(),
      webUrl: `http://127.0.0.1:${port}`,
    });
    cleanUp(() => identityProvider.stop());
    web = await startWeb(cleanUp, { identityProvider, port });
  });
  const signedIn = async (): Promise<{ browser: WebBrowser; atProvider: ReturnType<typeof openBrowser> }> => {
    const [browser, atProvider] = [web.openBrowser(), openBrowser()];
    await web.signIn(browser, "operator", { atProvider });
    return { browser, atProvider };
  };
  /** Opens the provider's page, and submits its form. */
  const confirm = async (atProvider: ReturnType<typeof openBrowser>, url: string): Promise<string | null> => {
    const page = await (await atProvider(url)).text();
    const [, action = "", xsrf = ""] = /action="([^"]+)".* name="xsrf" value="([^"]+)"/.exec(page) ?? [];
    const body = new URLSearchParams({ xsrf, logout: "yes" });
    return (await atProvider(action, { method: "POST", body })).headers.get("location");
  };

  test("who signs out there is signed out here, and the same user in another browser isn't", async () => {
    const [one, other] = [await signedIn(), await signedIn()];
    await confirm(one.atProvider, `${web.identityProvider.issuer}/session/end`);
    assert.deepEqual(await Promise.all([one.browser, other.browser].map(isSignedIn)), [false, true]);
  });

  test("who signs out here can sign out there too, and returns to our start page", async () => {
    const { browser, atProvider } = await signedIn();
    const { headers } = await post(browser, sameOrigin);
    assert.equal(await confirm(atProvider, headers.get("location") ?? ""), `${web.url}/`);
    const page = await (await atProvider(`${web.identityProvider.issuer}/session/end`)).text();
    assert.doesNotMatch(page, /Sign out of the identity provider/, "nobody is signed in there any more");
  });
});
