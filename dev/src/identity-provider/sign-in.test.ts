import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from "jose";
import { personaNames, personas } from "./personas.ts";
import { beginSignIn, choosePersona, newPkce, openBrowser, redeem, signIn } from "./sign-in.ts";
import { type IdentityProvider, startIdentityProvider } from "./start-identity-provider.ts";

const anyPort = "http://127.0.0.1:49152/callback";

describe("signing in to the console", () => {
  let idp: IdentityProvider;
  before(async () => {
    idp = await startIdentityProvider({ port: 0 });
  });
  after(() => idp.stop());

  const { verifier, challenge } = newPkce();
  const openid = { scope: "openid", code_challenge: challenge, code_challenge_method: "S256" };

  async function codeFor(persona: string, browser = openBrowser()): Promise<string> {
    const back = await choosePersona(browser, await beginSignIn(browser, idp.issuer, openid), persona);
    return back.searchParams.get("code") ?? "";
  }

  function redeemCode(code: string, parameters: Record<string, string>, headers = {}): Promise<Response> {
    const redirect = { redirect_uri: "http://127.0.0.1/callback" };
    return redeem(idp.issuer, { grant_type: "authorization_code", code, ...redirect, ...parameters }, headers);
  }

  async function assertRefused(asked: Promise<Response>, error: string): Promise<void> {
    const response = await asked;
    const said = (await response.json()) as Record<string, unknown>;
    assert.deepEqual([response.status, said["error"], said["access_token"]], [400, error, undefined]);
  }

  test("returns an access token of the persona and an ID token for the console only", async () => {
    const { accessToken, idToken } = await signIn(idp.issuer, "riverside-admin", "a nonce");
    const keys = createRemoteJWKSet(new URL(idp.jwksUrl));
    const access = await jwtVerify(accessToken, keys, { issuer: idp.issuer, typ: "at+jwt" });
    const { iat = 0, exp = 0, jti, ...claims } = access.payload;
    assert.equal(exp - iat, 3600);
    assert.equal(typeof jti, "string");
    assert.deepEqual(claims, {
      iss: idp.issuer,
      sub: "riverside-admin",
      client_id: "marketplace-console",
      aud: ["marketplace", "ehr"],
      organization: { "riverside-clinic": { roles: ["org-admin"] } },
    });

    const identity = await jwtVerify(idToken, keys, { issuer: idp.issuer, audience: "marketplace-console" });
    assert.notEqual(identity.protectedHeader.typ, "at+jwt");
    assert.equal(identity.payload.sub, "riverside-admin");
    assert.equal(identity.payload["nonce"], "a nonce");
    assert.equal(identity.payload["organization"], undefined);
  });

  for (const redirectUri of [anyPort, "http://localhost:49152/callback"]) {
    test(`redirects to any port of the loopback address, with the state: ${redirectUri}`, async () => {
      const browser = openBrowser();
      const query = { ...openid, redirect_uri: redirectUri, state: "a state" };
      const back = await choosePersona(browser, await beginSignIn(browser, idp.issuer, query), "operator");
      assert.equal(back.origin + back.pathname, redirectUri);
      assert.equal(back.searchParams.get("state"), "a state");
      assert.equal(back.searchParams.get("iss"), idp.issuer);
      const code = back.searchParams.get("code") ?? "";
      assert.equal((await redeemCode(code, { redirect_uri: redirectUri, code_verifier: verifier })).status, 200);
    });
  }

  test("never redirects to another host or path", async () => {
    for (const elsewhere of ["https://elsewhere.example/callback", "http://127.0.0.1/elsewhere"]) {
      const url = new URL(`${idp.issuer}/auth`);
      const query = { ...openid, client_id: "marketplace-console", response_type: "code", redirect_uri: elsewhere };
      url.search = new URLSearchParams(query).toString();
      const response = await openBrowser()(url);
      assert.deepEqual([response.status, response.headers.get("location")], [400, null]);
      assert.match(await response.text(), /You are not signed in.*invalid_redirect_uri/s);
    }
  });

  test("prompts each time, so that the same browser can choose another persona", async () => {
    const browser = openBrowser();
    for (const persona of ["operator", "billing", "billing"]) {
      const response = await redeemCode(await codeFor(persona, browser), { code_verifier: verifier });
      const { access_token: token } = (await response.json()) as { access_token: string };
      assert.equal(decodeJwt(token).sub, persona);
    }
  });

  test("can be refreshed", async () => {
    const { refreshToken } = await signIn(idp.issuer, "two-practices");
    const response = await redeem(idp.issuer, { grant_type: "refresh_token", refresh_token: refreshToken });
    const { access_token: token } = (await response.json()) as { access_token: string };
    assert.equal(decodeProtectedHeader(token).typ, "at+jwt");
    assert.deepEqual(decodeJwt(token)["organization"], personas["two-practices"].claims.organization);
    assert.deepEqual(decodeJwt(token).aud, ["marketplace", "ehr"]);
  });

  test("can be revoked by pages of the console on any port, and not by other sites", async () => {
    for (const [origin, status, allowed] of [
      ["http://127.0.0.1:49152", 200, "http://127.0.0.1:49152"],
      ["http://localhost:5173", 200, "http://localhost:5173"],
      ["https://elsewhere.example", 400, null],
      ["null", 400, null],
    ] as const) {
      const response = await redeemCode(await codeFor("operator"), { code_verifier: verifier }, { origin });
      assert.deepEqual(
        [response.status, response.headers.get("access-control-allow-origin")],
        [status, allowed],
        origin,
      );
    }
  });

  test("is refused without a code challenge, or with one that is not hashed", async () => {
    const plain = { scope: "openid", code_challenge: verifier, code_challenge_method: "plain" };
    for (const query of [{ scope: "openid" }, plain]) {
      const back = await beginSignIn(openBrowser(), idp.issuer, query);
      assert.equal(back.origin, "http://127.0.0.1");
      assert.equal(back.searchParams.get("error"), "invalid_request");
      assert.equal(back.searchParams.get("code"), null);
    }
  });

  test("refuses a code without its verifier, or used twice", async () => {
    await assertRefused(redeemCode(await codeFor("operator"), {}), "invalid_grant");
    await assertRefused(redeemCode(await codeFor("operator"), { code_verifier: newPkce().verifier }), "invalid_grant");
    const code = await codeFor("operator");
    assert.equal((await redeemCode(code, { code_verifier: verifier })).status, 200);
    await assertRefused(redeemCode(code, { code_verifier: verifier }), "invalid_grant");
  });

  test("shows every persona on a page that loads nothing and posts only to itself and the client", async () => {
    const browser = openBrowser();
    const response = await browser(await beginSignIn(browser, idp.issuer, { ...openid, redirect_uri: anyPort }));
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-type"), "text/html; charset=utf-8");
    assert.equal(
      response.headers.get("content-security-policy"),
      "default-src 'none'; style-src 'unsafe-inline'; form-action 'self' http://127.0.0.1:49152; base-uri 'none'; frame-ancestors 'none'",
    );
    const html = await response.text();
    assert.match(html, /<h1>Who are you today\?<\/h1>/);
    assert.doesNotMatch(html, /<script|https?:/);
    const offered = [...html.matchAll(/<button name="persona" value="([^"]+)">.*?class="name">([^<]+)</g)];
    assert.deepEqual(
      offered.map(([, name, displayName]) => [name, displayName]),
      personaNames.map((name) => [name, personas[name].displayName]),
    );
  });

  test("shows an error page for an unknown or expired interaction", async () => {
    const browser = openBrowser();
    const loginUrl = await beginSignIn(browser, idp.issuer, openid);
    const stranger = { method: "POST", body: new URLSearchParams({ persona: "<script>" }) };
    for (const response of [await browser(loginUrl, stranger), await openBrowser()(loginUrl)]) {
      assert.equal(response.status, 400);
      assert.equal(response.headers.get("location"), null);
      assert.match(await response.text(), /<h1>You are not signed in<\/h1>/);
    }
  });
});
