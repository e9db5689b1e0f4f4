import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { decodeJwt } from "jose";
import { register } from "../registration.test-support.ts";
import {
  app,
  beginAppSignIn,
  exchange,
  type LaunchingEhr,
  openApp,
  refresh,
  signInToApp,
  startLaunchingEhr,
  type TokenResponse,
} from "./launches.test-support.ts";

const minuteMs = 60_000;

describe("the tokens of an app", () => {
  const cleanUp = cleanUpAfter();
  let started: Promise<LaunchingEhr> | undefined;
  let ehr: LaunchingEhr;
  beforeEach(async () => {
    started ??= startLaunchingEhr(cleanUp);
    ehr = await started;
    await ehr.setStatus("active");
    await ehr.setScopes(app.fhirScopes);
    ehr.advance(minuteMs);
  });

  const refreshed = async (refreshToken: string): Promise<TokenResponse> =>
    (await (await refresh(ehr, refreshToken)).json()) as TokenResponse;
  async function assertRefused(response: Response, error: string): Promise<void> {
    const said = (await response.json()) as Record<string, unknown>;
    assert.deepEqual([response.status, said["error"], said["access_token"]], [400, error, undefined]);
  }

  test("have the scopes that the practice has agreed to, and none that the app asked for besides", async () => {
    await ehr.setScopes("launch openid fhirUser patient/Observation.rs");
    ehr.advance(minuteMs);
    const scope = "launch openid fhirUser online_access patient/*.cruds user/Patient.rs system/Observation.rs";
    const tokens = await openApp(ehr, { scope });
    assert.equal(tokens.scope, "launch openid fhirUser patient/Observation.rs");
    assert.equal(decodeJwt(tokens.access_token)["scope"], tokens.scope);
    assert.equal(tokens.refresh_token, undefined);
  });

  test("have no system scopes if a user has signed in", async () => {
    await ehr.setScopes("launch openid system/Observation.rs");
    ehr.advance(minuteMs);
    assert.equal((await openApp(ehr, { scope: "launch openid system/Observation.rs" })).scope, "launch openid");
  });

  test("have no identity that the practice hasn't agreed to", async () => {
    await ehr.setScopes("launch patient/Observation.rs");
    ehr.advance(minuteMs);
    const tokens = await openApp(ehr);
    assert.deepEqual([tokens.scope, tokens.id_token], ["launch patient/Observation.rs", undefined]);
  });

  test("don't exist if the practice has agreed to nothing that is asked for", async () => {
    const back = await beginAppSignIn(ehr, "any", { scope: "user/Patient.rs" });
    assert.equal(back.searchParams.get("error"), "invalid_scope");
  });

  test("have the scopes of this moment, although others were known when the user began to sign in", async () => {
    await openApp(ehr);
    await ehr.setScopes("launch openid fhirUser patient/Patient.r");
    assert.equal((await openApp(ehr)).scope, "launch openid fhirUser patient/Patient.r");
  });

  test("have an added scope at the next launch, and none are issued to a launch after a pause", async () => {
    await openApp(ehr);
    await ehr.setScopes(`${app.fhirScopes} patient/Condition.rs`);
    const { scope } = await openApp(ehr, { scope: "launch openid patient/Condition.rs" });
    assert.equal(scope, "launch openid patient/Condition.rs");
    await ehr.setStatus("paused");
    assert.equal((await beginAppSignIn(ehr, "any")).searchParams.get("error"), "access_denied");
  });

  test("are refreshed with the same user, patient and practice", async () => {
    const first = await openApp(ehr, {}, { patientId: "a-patient" });
    const second = await refreshed(first.refresh_token);
    assert.notEqual(second.access_token, first.access_token);
    for (const name of ["scope", "patient", "tenant", "need_patient_banner"]) {
      assert.deepEqual(second[name], first[name], name);
    }
    const { aud, sub } = decodeJwt(second.access_token);
    assert.deepEqual([aud, sub], [decodeJwt(first.access_token).aud, "riverside-member"]);
    const { fhirUser } = decodeJwt(second.id_token);
    assert.equal(fhirUser, `${String(aud)}/Practitioner/riverside-member`);
  });

  test("are refreshed once with each refresh token: a stolen one ends the access of both", async () => {
    const first = await openApp(ehr);
    const second = await refreshed(first.refresh_token);
    await assertRefused(await refresh(ehr, first.refresh_token), "invalid_grant");
    await assertRefused(await refresh(ehr, second.refresh_token), "invalid_grant");
  });

  test("can't be refreshed by another client", async () => {
    const { refresh_token: refreshToken } = await openApp(ehr);
    const { client_id: clientId } = await register(ehr.identityProvider.issuer);
    await assertRefused(await refresh(await ehr.installAnother(clientId), refreshToken), "invalid_grant");
    assert.equal((await refresh(ehr, refreshToken)).status, 200);
  });

  for (const scope of ["online_access", "offline_access"]) {
    test(`can be refreshed with ${scope}`, async () => {
      const tokens = await openApp(ehr, { scope: `launch openid ${scope}` });
      assert.equal(tokens.scope, `launch openid ${scope}`);
      assert.equal((await refresh(ehr, tokens.refresh_token)).status, 200);
    });
  }

  test("can't be refreshed without such a scope, or by a client without that grant type", async () => {
    assert.equal((await openApp(ehr, { scope: "launch openid" })).refresh_token, undefined);
    const { client_id: clientId } = await register(ehr.identityProvider.issuer, {
      grant_types: ["authorization_code"],
    });
    const tokens = await openApp(await ehr.installAnother(clientId));
    assert.deepEqual([tokens.refresh_token, tokens.scope.includes("online_access")], [undefined, false]);
  });

  test("are refused within 60 seconds after a pause, and the same refresh token works after it", async () => {
    const { refresh_token: first } = await openApp(ehr);
    const { refresh_token: refreshToken } = await refreshed(first);
    await ehr.setStatus("paused");
    ehr.advance(minuteMs);
    await assertRefused(await refresh(ehr, refreshToken), "invalid_grant");
    const back = await beginAppSignIn(ehr, "any");
    assert.equal(back.searchParams.get("error"), "access_denied");
    await ehr.setStatus("active");
    assert.equal((await refresh(ehr, refreshToken)).status, 200);
  });

  test("are refused if the pause is between sign-in and the exchange of the code", async () => {
    const back = await signInToApp(ehr, await ehr.launch("riverside-member"), "riverside-member");
    await ehr.setStatus("paused");
    ehr.advance(minuteMs);
    await assertRefused(await exchange(ehr, back), "invalid_grant");
  });

  test("cost the EHR one request in a minute", async () => {
    const { refresh_token: first } = await openApp(ehr);
    const before = await ehr.countChecks();
    const second = await refreshed(first);
    const third = await refreshed(second.refresh_token);
    assert.equal(await ehr.countChecks(), before);
    ehr.advance(minuteMs);
    await refreshed(third.refresh_token);
    assert.equal(await ehr.countChecks(), before + 1);
  });

  test("lose a scope that is agreed to no more when they are refreshed, and get no new one before the next launch", async () => {
    const { refresh_token: refreshToken } = await openApp(ehr);
    await ehr.setScopes("launch openid fhirUser online_access patient/Observation.rs patient/Condition.rs");
    ehr.advance(minuteMs);
    const second = await refreshed(refreshToken);
    assert.equal(second.scope, "launch openid fhirUser online_access patient/Observation.rs");
    const scope = `${second.scope} patient/Condition.rs`;
    await assertRefused(await refresh(ehr, second.refresh_token, { scope }), "invalid_scope");
    assert.equal((await openApp(ehr, { scope })).scope, scope);
  });

  test("are refused to a client that the EHR doesn't know", async () => {
    const { client_id: clientId } = await register(ehr.identityProvider.issuer);
    const back = await beginAppSignIn({ ...ehr, clientId }, await ehr.launch("riverside-member"));
    assert.equal(back.searchParams.get("error"), "access_denied");
  });
});
