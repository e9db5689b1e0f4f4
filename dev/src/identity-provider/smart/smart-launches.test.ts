import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { createRemoteJWKSet, decodeJwt, jwtVerify } from "jose";
import { freePort } from "../../free-port.ts";
import { beginSignIn, openBrowser } from "../sign-in.ts";
import { startIdentityProvider } from "../start-identity-provider.ts";
import {
  app,
  authorizing,
  exchange,
  type LaunchingEhr,
  signInToApp,
  startLaunchingEhr,
} from "./launches.test-support.ts";

interface TokenResponse {
  access_token: string;
  id_token: string;
  [name: string]: unknown;
}

describe("an app that the EHR launches by SMART App Launch", () => {
  const cleanUp = cleanUpAfter();
  let ehr: LaunchingEhr;
  let issuer: string;
  before(async () => {
    ehr = await startLaunchingEhr(cleanUp);
    issuer = ehr.identityProvider.issuer;
  });
  const [patientId, encounterId] = [`Patient-${randomUUID()}.1`, randomUUID()];

  async function assertRefused(response: URLSearchParams, error: string, description: RegExp): Promise<void> {
    assert.deepEqual([response.get("error"), response.get("state"), response.get("code")], [error, "a state", null]);
    assert.match(response.get("error_description") ?? "", description);
  }

  test("gets the patient, the encounter and the practice in its token response only", async () => {
    const back = await signInToApp(
      ehr.identityProvider,
      await ehr.launch("riverside-member", { patientId, encounterId }),
      "riverside-member",
    );
    const response = await exchange(ehr.identityProvider, back);
    assert.equal(response.headers.get("cache-control"), "no-store");
    const { access_token: accessToken, id_token: idToken, ...rest } = (await response.json()) as TokenResponse;
    assert.deepEqual(rest, {
      token_type: "Bearer",
      expires_in: 3600,
      scope: app.fhirScopes.replace(" online_access", ""),
      patient: patientId,
      encounter: encounterId,
      need_patient_banner: true,
      tenant: "riverside-clinic",
    });
    for (const place of [back.toString(), ...[accessToken, idToken].map((token) => JSON.stringify(decodeJwt(token)))]) {
      assert.ok(!place.includes(patientId) && !place.includes(encounterId), place);
    }
  });

  test("gets a token for the FHIR server only, and the identity of the user", async () => {
    const back = await signInToApp(ehr.identityProvider, await ehr.launch("riverside-admin"), "riverside-admin");
    const tokens = (await (await exchange(ehr.identityProvider, back)).json()) as TokenResponse;
    const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));
    const audience = `${issuer}/fhir/riverside-clinic`;
    const access = await jwtVerify(tokens.access_token, keys, { issuer, audience, typ: "at+jwt" });
    assert.equal(access.payload.aud, audience);
    assert.deepEqual([access.payload["roles"], access.payload["organization"]], [undefined, undefined]);
    const { payload } = await jwtVerify(tokens.id_token, keys, { issuer, audience: app.clientId });
    const { sub, name, fhirUser } = payload;
    assert.deepEqual(
      [sub, name, fhirUser],
      ["riverside-admin", "Rosa Delgado", `${audience}/Practitioner/riverside-admin`],
    );
    assert.equal(tokens["refresh_token"], undefined);
  });

  test("gets no patient if the launch has none", async () => {
    const back = await signInToApp(ehr.identityProvider, await ehr.launch("riverside-member"), "riverside-member");
    const response = (await (await exchange(ehr.identityProvider, back)).json()) as TokenResponse;
    assert.ok(!("patient" in response) && !("encounter" in response));
    assert.deepEqual([response["need_patient_banner"], response["tenant"]], [false, "riverside-clinic"]);
  });

  test("can redeem a launch once", async () => {
    const launch = await ehr.launch("riverside-member", { patientId });
    const first = await signInToApp(ehr.identityProvider, launch, "riverside-member");
    const second = await signInToApp(ehr.identityProvider, launch, "riverside-member");
    await assertRefused(second, "access_denied", /was used before/);
    assert.equal((await exchange(ehr.identityProvider, first)).status, 200);
  });

  const elsewhere = (): Record<string, string> => ({ aud: `${issuer}/fhir/hilltop-family-practice` });
  for (const [what, persona, query] of [
    ["somebody else signs in", "two-practices", () => ({})],
    ["it asks for another practice's server", "riverside-member", elsewhere],
    [
      "it names another practice's server as its resource",
      "riverside-member",
      () => ({ resource: elsewhere()["aud"] ?? "" }),
    ],
  ] as const) {
    test(`is refused when ${what}, and the launch is spent`, async () => {
      const launch = await ehr.launch("riverside-member", { patientId });
      await assertRefused(
        await signInToApp(ehr.identityProvider, launch, persona, query()),
        "access_denied",
        /not this user's/,
      );
      await assertRefused(await signInToApp(ehr.identityProvider, launch, "riverside-member"), "access_denied", /used/);
    });
  }

  test("is refused before sign-in when its request is invalid", async () => {
    const asked = authorizing(issuer, "any");
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
      assert.equal(back.origin, new URL(app.redirectUri).origin);
      assert.deepEqual([back.searchParams.get("error"), back.searchParams.get("state")], [error, "a state"]);
    }
  });

  test("gets an error when the EHR is unavailable, and can retry", async () => {
    const smart = { ehrUrl: `http://127.0.0.1:${await freePort()}`, apps: [app] };
    const alone = await startIdentityProvider({ port: 0, smart });
    cleanUp(() => alone.stop());
    const back = await signInToApp(alone, "any", "riverside-member");
    await assertRefused(back, "temporarily_unavailable", /the EHR/);
  });

  test("can complete its sign-in from its own origin only", async () => {
    const own = new URL(app.redirectUri).origin;
    for (const [origin, status, allowed] of [
      [own, 200, own],
      ["http://127.0.0.1:49152", 400, null],
    ] as const) {
      const back = await signInToApp(ehr.identityProvider, await ehr.launch("riverside-member"), "riverside-member");
      const response = await exchange(ehr.identityProvider, back, { origin });
      assert.deepEqual([response.status, response.headers.get("access-control-allow-origin")], [status, allowed]);
    }
  });
});
