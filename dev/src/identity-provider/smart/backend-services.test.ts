import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { before, describe, test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import {
  type CryptoKey,
  createRemoteJWKSet,
  exportJWK,
  generateKeyPair,
  type JWTPayload,
  jwtVerify,
  SignJWT,
} from "jose";
import { register } from "../registration.test-support.ts";
import { type LaunchingEhr, startLaunchingEhr, type TokenResponse } from "./launches.test-support.ts";

const agreed = "launch openid system/Observation.rs system/Patient.rs patient/Observation.rs";
const minuteMs = 60_000;

/** SMART App Launch 2.2, "Backend services": an app without a user, which has a key instead of a secret. */
describe("an app that works in the background", () => {
  const cleanUp = cleanUpAfter();
  let ehr: LaunchingEhr;
  let issuer: string;
  let fhirServer: string;
  let clientId: string;
  let privateKey: CryptoKey;
  let jwks: { status: number; headers?: Record<string, string>; body: string };
  let jwksUri: string;

  before(async () => {
    ehr = await startLaunchingEhr(cleanUp);
    issuer = ehr.identityProvider.issuer;
    fhirServer = `${issuer}/fhir/riverside-clinic`;
    const pair = await generateKeyPair("ES384");
    ({ privateKey } = pair);
    const key = { ...(await exportJWK(pair.publicKey)), kid: "a-key", alg: "ES384", use: "sig" };
    jwks = { status: 200, body: JSON.stringify({ keys: [key] }) };
    const server = createServer((request, response) => {
      if (request.url === "/moved") response.writeHead(302, { location: "/jwks.json" }).end();
      else if (request.url === "/large") response.end(`{"keys":[],"x":"${"x".repeat(64 * 1024)}"}`);
      else response.writeHead(jwks.status, jwks.headers).end(jwks.body);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    cleanUp(async () => {
      server.close();
      server.closeAllConnections();
    });
    jwksUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`;
    clientId = await registerService(jwksUri);
    await ehr.setScopes(agreed);
  });

  async function registerService(keys: string): Promise<string> {
    const { client_id: id } = await register(issuer, {
      redirect_uris: undefined,
      grant_types: ["client_credentials"],
      response_types: [],
      token_endpoint_auth_method: "private_key_jwt",
      jwks_uri: keys,
      scope: agreed,
    });
    await ehr.installAnother(id);
    return id;
  }

  async function assertion(claims: JWTPayload = {}, key: CryptoKey = privateKey, alg = "ES384"): Promise<string> {
    const expires = Math.floor(Date.now() / 1_000) + 240;
    const defaults = { iss: clientId, sub: clientId, aud: `${issuer}/token`, jti: randomUUID(), exp: expires };
    return new SignJWT({ ...defaults, ...claims }).setProtectedHeader({ alg, typ: "JWT", kid: "a-key" }).sign(key);
  }

  async function requestToken(changes: Record<string, string> = {}): Promise<Response> {
    const parameters = {
      grant_type: "client_credentials",
      scope: "system/Observation.rs",
      resource: fhirServer,
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      ...changes,
      client_assertion: changes["client_assertion"] ?? (await assertion()),
    };
    return fetch(`${issuer}/token`, { method: "POST", body: new URLSearchParams(parameters) });
  }

  async function assertRefused(response: Response, status: number, error: string): Promise<void> {
    const said = (await response.json()) as Record<string, unknown>;
    assert.deepEqual([response.status, said["error"], said["access_token"]], [status, error, undefined]);
  }

  test("gets a token of five minutes for one practice's FHIR server", async () => {
    const response = await requestToken();
    const { access_token: token, ...rest } = (await response.json()) as TokenResponse;
    assert.deepEqual(rest, { token_type: "Bearer", expires_in: 300, scope: "system/Observation.rs" });
    const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));
    const { payload } = await jwtVerify(token, keys, { issuer, audience: fhirServer, typ: "at+jwt" });
    const { iat: _iat, exp: _exp, jti: _jti, ...claims } = payload;
    assert.deepEqual(claims, {
      iss: issuer,
      aud: fhirServer,
      sub: clientId,
      client_id: clientId,
      scope: "system/Observation.rs",
    });
  });

  test("gets what the practice has agreed to of the scopes that need no user", async () => {
    const scope = "system/*.cruds patient/Observation.rs launch openid offline_access";
    const { scope: granted } = (await (await requestToken({ scope })).json()) as TokenResponse;
    assert.equal(granted, "system/Observation.rs system/Patient.rs");
    for (const refused of ["system/Condition.rs", "patient/Observation.rs", "openid"]) {
      await assertRefused(await requestToken({ scope: refused }), 400, "invalid_scope");
    }
  });

  test("names the practice, as its resource or as its audience", async () => {
    const parameters = { grant_type: "client_credentials", scope: "system/Observation.rs" };
    const send = async (more: Record<string, string>): Promise<Response> =>
      fetch(`${issuer}/token`, {
        method: "POST",
        body: new URLSearchParams({
          ...parameters,
          ...more,
          client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
          client_assertion: await assertion(),
        }),
      });
    assert.equal((await send({ aud: fhirServer })).status, 200);
    await assertRefused(await send({}), 400, "invalid_request");
    await assertRefused(await send({ resource: `${issuer}/fhir/-` }), 400, "invalid_target");
    await assertRefused(await send({ resource: "urn:ehr-marketplace:apis" }), 400, "invalid_target");
    await assertRefused(await send({ resource: `${issuer}/fhir/hilltop-family-practice` }), 400, "invalid_grant");
  });

  test("gets no token within 60 seconds after a pause", async () => {
    assert.equal((await requestToken()).status, 200);
    await ehr.setStatus("paused");
    ehr.advance(minuteMs);
    await assertRefused(await requestToken(), 400, "invalid_grant");
    await ehr.setStatus("active");
    assert.equal((await requestToken()).status, 200);
  });

  test("is refused with an assertion that is used twice, or isn't its own", async () => {
    const used = await assertion();
    assert.equal((await requestToken({ client_assertion: used })).status, 200);
    const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1_000) + seconds;
    const stranger = (await generateKeyPair("ES384")).privateKey;
    const weak = (await generateKeyPair("RS256")).privateKey;
    for (const [what, sent] of [
      ["used before", used],
      ["of ten minutes", await assertion({ exp: inSeconds(600) })],
      ["expired", await assertion({ exp: inSeconds(-60) })],
      ["for another server", await assertion({ aud: "https://elsewhere.example/token" })],
      ["by another issuer", await assertion({ iss: "somebody" })],
      ["of another key", await assertion({}, stranger)],
      ["of an algorithm that SMART doesn't have", await assertion({}, weak, "RS256")],
      ["without a subject that is known", await assertion({ sub: "somebody", iss: "somebody" })],
    ] as const) {
      const response = await requestToken({ client_assertion: sent });
      assert.equal(response.status, 401, what);
      await assertRefused(response, 401, "invalid_client");
    }
  });

  test("is refused without an assertion", async () => {
    const body = new URLSearchParams({
      grant_type: "client_credentials",
      client_id: clientId,
      scope: "system/Observation.rs",
      resource: fhirServer,
    });
    await assertRefused(await fetch(`${issuer}/token`, { method: "POST", body }), 401, "invalid_client");
  });

  for (const [what, uri] of [
    ["in a private network", () => "https://10.1.2.3/jwks.json"],
    ["at a cloud's metadata service", () => "http://169.254.169.254/jwks.json"],
    ["that have moved", () => jwksUri.replace("jwks.json", "moved")],
    ["of more than 64 KiB", () => jwksUri.replace("jwks.json", "large")],
  ] as const) {
    test(`is refused with keys ${what}`, async () => {
      const id = await registerService(uri());
      const sent = await assertion({ iss: id, sub: id });
      await assertRefused(await requestToken({ client_assertion: sent }), 401, "invalid_client");
    });
  }
});
