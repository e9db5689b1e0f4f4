import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { createRemoteJWKSet, decodeJwt, jwtVerify } from "jose";
import { freePort } from "../../free-port.ts";
import { register } from "../registration.test-support.ts";
import { beginSignIn, openBrowser } from "../sign-in.ts";
import { startIdentityProvider } from "../start-identity-provider.ts";
import {
  authorizing,
  beginAppSignIn,
  exchange,
  type LaunchingEhr,
  openApp,
  redirectUri,
  signInToApp,
  startLaunchingEhr,
  type TokenResponse,
} from "./launches.test-support.ts";

describe("an app that the EHR launches by SMART App Launch", () => {
  const cleanUp = cleanUpAfter();
  let ehr: LaunchingEhr;
  let issuer: string;
  before(async () => {
    ehr = await startLaunchingEhr(cleanUp);
    issuer = ehr.identityProvider.issuer;
  });
  const [patientId, encounterId] = [`Patient-${randomUUID()}.1`, randomUUID()];

  function assertRefused(response: URLSearchParams, error: string, description: RegExp): void {
    assert.deepEqual([response.get("error"), response.get("state"), response.get("code")], [error, "a state", null]);
    assert.match(response.get("error_description") ?? "", description);
  }

  test("gets the patient, the encounter and the practice in its token response only", async () => {
    const back = await signInToApp(
      ehr,
      await ehr.launch("riverside-member", { patientId, encounterId }),
      "riverside-member",
    );
    const response = await exchange(ehr, back);
    assert.equal(response.headers.get("cache-control"), "no-store");
    const {
      access_token: accessToken,
      id_token: idToken,
      refresh_token: refreshToken,
      ...rest
    } = (await response.json()) as TokenResponse;
    assert.deepEqual(rest, {
      token_type: "Bearer",
      expires_in: 3600,
      scope: "launch openid fhirUser online_access patient/Patient.r patient/Observation.rs",
      patient: patientId,
      encounter: encounterId,
      need_patient_banner: true,
      tenant: "riverside-clinic",
    });
    assert.equal(typeof refreshToken, "string");
    for (const place of [back.toString(), ...[accessToken, idToken].map((token) => JSON.stringify(decodeJwt(token)))]) {
      assert.ok(!place.includes(patientId) && !place.includes(encounterId), place);
    }
  });

  test("gets a token for the FHIR server only, and the identity of the user", async () => {
    const back = await signInToApp(ehr, await ehr.launch("riverside-admin"), "riverside-admin");
    const tokens = (await (await exchange(ehr, back)).json()) as TokenResponse;
    const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));
    const audience = `${issuer}/fhir/riverside-clinic`;
    const access = await jwtVerify(tokens.access_token, keys, { issuer, audience, typ: "at+jwt" });
    assert.equal(access.payload.aud, audience);
    assert.deepEqual([access.payload["roles"], access.payload["organization"]], [undefined, undefined]);
    const { payload } = await jwtVerify(tokens.id_token, keys, { issuer, audience: ehr.clientId });
    const { sub, name, fhirUser } = payload;
    assert.deepEqual(
      [sub, name, fhirUser],
      ["riverside-admin", "Rosa Delgado", `${audience}/Practitioner/riverside-admin`],
    );
  });

  test("gets no patient if the launch has none", async () => {
    const response = await openApp(ehr);
    assert.ok(!("patient" in response) && !("encounter" in response));
    assert.deepEqual([response["need_patient_banner"], response["tenant"]], [false, "riverside-clinic"]);
  });

  test("can redeem a launch once", async () => {
    const launch = await ehr.launch("riverside-member", { patientId });
    const first = await signInToApp(ehr, launch, "riverside-member");
    const second = await signInToApp(ehr, launch, "riverside-member");
    assertRefused(second, "access_denied", /was used before/);
    assert.equal((await exchange(ehr, first)).status, 200);
  });

  test("is refused when somebody else signs in, and the launch is spent", async () => {
    const launch = await ehr.launch("riverside-member", { patientId });
    assertRefused(await signInToApp(ehr, launch, "two-practices"), "access_denied", /not this user's/);
    assertRefused(await signInToApp(ehr, launch, "riverside-member"), "access_denied", /used/);
  });

  test("is refused with the launch of another app, which is spent then", async () => {
    const { client_id: clientId } = await register(issuer);
    const other = await ehr.installAnother(clientId);
    const launch = await ehr.launch("riverside-member", { patientId });
    assertRefused(await signInToApp(other, launch, "riverside-member"), "access_denied", /used/);
    assertRefused(await signInToApp(ehr, launch, "riverside-member"), "access_denied", /used/);
  });

  for (const [what, query] of [
    ["as its audience", (url: string) => ({ aud: url })],
    ["as its resource", (url: string) => ({ resource: url })],
  ] as const) {
    test(`is refused before sign-in when it names a practice that doesn't have it ${what}`, async () => {
      const launch = await ehr.launch("riverside-member", { patientId });
      const back = await beginAppSignIn(ehr, launch, query(`${issuer}/fhir/hilltop-family-practice`));
      assertRefused(back.searchParams, "access_denied", /doesn't have this app/);
    });
  }

  test("is refused before sign-in when its request is invalid", async () => {
    const asked = authorizing(ehr, "any");
    const { launch: _launch, ...noLaunch } = asked;
    const { aud: _audience, ...noAudience } = asked;
    for (const [query, error] of [
      [noLaunch, "invalid_request"],
      [noAudience, "invalid_request"],
      [{ ...asked, scope: "openid fhirUser" }, "invalid_scope"],
      [{ ...asked, aud: "https://elsewhere.example/fhir/riverside-clinic" }, "invalid_target"],
      [{ ...asked, aud: `${issuer}/fhir/riverside-clinic/Patient` }, "invalid_target"],
      // The marketplace's own APIs, which a vendor's app must not access.
      [{ ...asked, resource: "urn:ehr-marketplace:apis" }, "invalid_target"],
    ] as const) {
      const back = await beginSignIn(openBrowser(), issuer, query);
      assert.equal(back.origin, new URL(redirectUri).origin);
      assert.deepEqual([back.searchParams.get("error"), back.searchParams.get("state")], [error, "a state"]);
    }
  });

  test("is sent back to exactly the redirect URI that was registered", async () => {
    for (const elsewhere of [
      "http://127.0.0.1:49154/",
      "http://localhost:49153/",
      `${redirectUri}back`,
      `${redirectUri}?x=1`,
      `${redirectUri}#x`,
      "https://127.0.0.1:49153/",
    ]) {
      const url = new URL(`${issuer}/auth`);
      const query = { ...authorizing(ehr, "any"), response_type: "code", redirect_uri: elsewhere };
      url.search = new URLSearchParams(query).toString();
      const response = await openBrowser()(url);
      assert.deepEqual([response.status, response.headers.get("location")], [400, null], elsewhere);
    }
  });

  test("gets an error when the EHR is unavailable, and can retry", async () => {
    const alone = await startIdentityProvider({ port: 0, ehrUrl: `http://127.0.0.1:${await freePort()}` });
    cleanUp(() => alone.stop());
    const { client_id: clientId } = await register(alone.issuer);
    const back = await beginAppSignIn({ identityProvider: alone, clientId }, "any");
    assertRefused(back.searchParams, "temporarily_unavailable", /the EHR/);
  });

  test("can complete its sign-in from its own origin only", async () => {
    const own = new URL(redirectUri).origin;
    for (const [origin, status, allowed] of [
      [own, 200, own],
      ["http://127.0.0.1:49152", 400, null],
    ] as const) {
      const back = await signInToApp(ehr, await ehr.launch("riverside-member"), "riverside-member");
      const response = await exchange(ehr, back, { origin });
      assert.deepEqual([response.status, response.headers.get("access-control-allow-origin")], [status, allowed]);
    }
  });

  test("is named on the login page by its own name", async () => {
    const browser = openBrowser();
    const page = await browser(await beginAppSignIn(ehr, await ehr.launch("riverside-member"), {}, browser));
    assert.match(await page.text(), /<code>Northwind Scribe<\/code> asks who you are/);
  });
});
