import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { before, describe, test } from "node:test";
import { cleanUpAfter, eventually } from "@ehr-marketplace/test-kit";
import { clientMetadataOf } from "@ehr-marketplace/tests/support/client-marketplace";
import { decodeJwt, exportJWK, generateKeyPair, SignJWT } from "jose";
import { isReady, type Practice, patienceMs, startPractice } from "./practice.ts";
import { fhirAudience, prepareRealm, type Realm, readScopes } from "./realm.ts";
import { parseRefusal, requestAuthorization, requestToken, signIn } from "./sign-in.ts";

const scope = "launch openid fhirUser offline_access patient/Patient.rs";
const redirectUri = "https://app.example/callback";
const splitScope = (text = ""): string[] => text.split(" ").toSorted();

describe("clients that this service registers at Keycloak", () => {
  const cleanUp = cleanUpAfter();
  let realm: Realm;
  let ehr: Practice;
  before(async () => {
    realm = await prepareRealm();
    ehr = await startPractice(cleanUp, realm, await realm.createInitialToken(50));
  });

  /** Publishes an app and subscribes a practice to it; returns its client_id. */
  async function connect(slug: string): Promise<{ clientId: string; subscription: string }> {
    ehr.marketplace.publish(slug);
    const subscription = await ehr.subscribe(slug);
    const { clientId } = await ehr.clientWhen(slug, "it is ready", isReady);
    return { clientId: clientId ?? assert.fail("a ready client has no client_id"), subscription };
  }
  const redirectUrisOf = async (clientId: string): Promise<string[] | undefined> =>
    (await realm.readClient(clientId))?.redirectUris.toSorted();
  async function changeRedirectUris(slug: string, uris: string[]): Promise<void> {
    ehr.marketplace.publish(slug, {}, clientMetadataOf(slug, { redirect_uris: uris }));
    await ehr.refresh(slug);
  }

  test("have exactly the app's redirect URIs and scopes, no secret, and PKCE", async () => {
    const { clientId, subscription } = await connect("public-app");
    const client = (await realm.readClient(clientId)) ?? assert.fail("Keycloak has no such client");
    assert.deepEqual(client.redirectUris, [redirectUri]);
    assert.deepEqual([client.name, client.publicClient], ["The app public-app", true]);
    assert.equal(client.attributes["pkce.code.challenge.method"], "S256");
    assert.deepEqual(client.optionalClientScopes.toSorted(), splitScope(scope.replace("openid ", "")));
    const { standardFlowEnabled, implicitFlowEnabled, directAccessGrantsEnabled, serviceAccountsEnabled } = client;
    assert.deepEqual(
      { standardFlowEnabled, implicitFlowEnabled, directAccessGrantsEnabled, serviceAccountsEnabled },
      {
        standardFlowEnabled: true,
        implicitFlowEnabled: false,
        directAccessGrantsEnabled: false,
        serviceAccountsEnabled: false,
      },
    );
    assert.equal(client.fullScopeAllowed, false, "its tokens have none of the user's roles");
    await eventually("the vendor is told", patienceMs, () =>
      ehr.marketplace.reports.some(
        ({ subscriptionId, body }) => subscriptionId === subscription && body.clientId === clientId,
      ),
    );
  });

  test("sign a user in with PKCE, get the requested scopes, and refresh their token", async () => {
    const { clientId } = await connect("signing-in");
    const tokens = await signIn(realm, { clientId, redirectUri, scope });
    assert.equal(tokens.error, undefined, JSON.stringify(tokens));
    assert.deepEqual(splitScope(tokens.scope), splitScope(scope));
    const { aud, azp, realm_access: roles } = decodeJwt(tokens.access_token ?? "");
    assert.deepEqual([aud, azp, roles], [fhirAudience, clientId, undefined]);
    assert.equal(decodeJwt(tokens.id_token ?? "")["fhirUser"], realm.user.fhirUser);

    const grant = { grant_type: "refresh_token", client_id: clientId, refresh_token: tokens.refresh_token ?? "" };
    const refreshed = await requestToken(realm, grant);
    assert.equal(refreshed.error, undefined, JSON.stringify(refreshed));
    assert.notEqual(refreshed.access_token, tokens.access_token);
    assert.deepEqual(splitScope(refreshed.scope), splitScope(scope));
  });

  test("can't sign in without PKCE, at another redirect URI, or with a scope that isn't theirs", async () => {
    const { clientId } = await connect("refused");
    const request = { clientId, redirectUri, scope };
    const verifier = "the-verifier-of-this-sign-in-is-long-enough-for-pkce";
    const withoutPkce = parseRefusal(await requestAuthorization(realm, request));
    assert.deepEqual(withoutPkce, { to: redirectUri, error: "invalid_request" });
    const elsewhere = { ...request, redirectUri: "https://app.example/callback/other" };
    assert.equal((await requestAuthorization(realm, elsewhere, verifier)).status, 400);
    const greedy = { ...request, scope: "openid patient/Observation.rs" };
    const refusal = parseRefusal(await requestAuthorization(realm, greedy, verifier));
    assert.deepEqual(refusal, { to: redirectUri, error: "invalid_scope" });
  });

  test("are updated when the app's metadata changes, each time with the token that Keycloak rotated", async () => {
    const { clientId } = await connect("changing");
    for (const added of ["https://app.example/second", "https://app.example/third"]) {
      const uris = [redirectUri, added];
      await changeRedirectUris("changing", uris);
      await eventually(`Keycloak has ${added}`, patienceMs, async () =>
        ((await redirectUrisOf(clientId)) ?? []).includes(added),
      );
      assert.deepEqual(await redirectUrisOf(clientId), uris);
      const tokens = await signIn(realm, { clientId, redirectUri: added, scope });
      assert.equal(tokens.error, undefined, JSON.stringify(tokens));
    }
    const { status, task, reason } = await ehr.clientWhen("changing", "it is the same", isReady);
    assert.deepEqual([status, task, reason], ["ready", null, null]);
    assert.equal((await realm.readClient(clientId))?.attributes["pkce.code.challenge.method"], "S256");
  });

  test("have an added scope after their update, and are read there when an operator asks for it", async () => {
    const slug = "read-there";
    const { clientId } = await connect(slug);
    const added = (await readScopes()).split("\n").find((each) => each.startsWith("patient/") && !scope.includes(each));
    const wider = `${scope} ${added}`;
    ehr.marketplace.publish(slug, {}, clientMetadataOf(slug, { scope: wider }));
    await ehr.refresh(slug);
    await eventually("Keycloak has the scope", patienceMs, async () =>
      ((await realm.readClient(clientId))?.optionalClientScopes ?? []).includes(added ?? "none"),
    );
    const tokens = await signIn(realm, { clientId, redirectUri, scope: wider });
    assert.ok(splitScope(tokens.scope).includes(added ?? "none"), JSON.stringify(tokens));
    const { id } = await ehr.clientWhen(slug, "it is ready", isReady);
    await ehr.settle("POST", `${id}/retry`);
    await ehr.clientWhen(slug, "it was read, and is in order", isReady);
    await realm.deleteClient(clientId);
    await ehr.settle("POST", `${id}/retry`);
    await ehr.clientWhen(
      slug,
      "it was read, and isn't there",
      ({ status, task }) => status === "uncertain" && task === "check",
    );
  });

  test("authenticate with the keys at their jwks_uri, if they are backend services", async () => {
    const { publicKey, privateKey } = await generateKeyPair("RS384");
    const keys = [{ ...(await exportJWK(publicKey)), kid: "one", use: "sig", alg: "RS384" }];
    const vendor = createServer((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ keys }));
    }).listen(0, "127.0.0.1");
    await once(vendor, "listening");
    cleanUp(async () => {
      vendor.closeAllConnections();
      vendor.close();
    });
    const jwksUri = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}/jwks.json`;
    const slug = ehr.marketplace.publish(
      "backend-app",
      { smartLaunchUrl: null, fhirScopes: "system/Patient.rs" },
      clientMetadataOf("backend-app", {
        redirect_uris: [],
        grant_types: ["client_credentials"],
        response_types: [],
        token_endpoint_auth_method: "private_key_jwt",
        jwks_uri: jwksUri,
        scope: "system/Patient.rs",
      }),
    );
    await ehr.subscribe(slug);
    const { clientId } = await ehr.clientWhen(slug, "it is ready", isReady);
    const client = (await realm.readClient(clientId ?? "")) ?? assert.fail("Keycloak has no such client");
    assert.deepEqual([client.publicClient, client.clientAuthenticatorType], [false, "client-jwt"]);
    assert.deepEqual([client.redirectUris, client.attributes["jwks.url"]], [[], jwksUri]);
    const assertion = await new SignJWT({})
      .setProtectedHeader({ alg: "RS384", kid: "one" })
      .setIssuer(clientId ?? "")
      .setSubject(clientId ?? "")
      .setAudience(realm.issuer)
      .setJti(randomUUID())
      .setIssuedAt()
      .setExpirationTime("1 min")
      .sign(privateKey);
    const tokens = await requestToken(realm, {
      grant_type: "client_credentials",
      scope: "system/Patient.rs",
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion: assertion,
    });
    assert.equal(tokens.error, undefined, JSON.stringify(tokens));
    assert.deepEqual([tokens.scope, decodeJwt(tokens.access_token ?? "").aud], ["system/Patient.rs", fhirAudience]);
    assert.equal(tokens.refresh_token, undefined);
  });

  test("are gone after the last subscription, and their refresh tokens with them", async () => {
    const slug = "cancelled";
    const { clientId, subscription } = await connect(slug);
    const second = await ehr.subscribe(slug, 1);
    const tokens = await signIn(realm, { clientId, redirectUri, scope });
    await ehr.cancel(slug, subscription);
    await eventually("the first is reported", patienceMs, () =>
      ehr.marketplace.reports.some(({ subscriptionId }) => subscriptionId === second),
    );
    assert.notEqual(await realm.readClient(clientId), null, "another practice has the app");
    await ehr.cancel(slug, second, 1);
    await eventually("the client is gone here", patienceMs, async () => (await ehr.clientsOf(slug)).length === 0);
    assert.equal(await realm.readClient(clientId), null);
    const grant = { grant_type: "refresh_token", client_id: clientId, refresh_token: tokens.refresh_token ?? "" };
    assert.equal((await requestToken(realm, grant)).error, "invalid_client");
  });

  test("have failed with Keycloak's reason if the realm lacks a scope, until it has it", async () => {
    const missing = "patient/Immunization.rs";
    const slug = ehr.marketplace.publish(
      "new-scope",
      {},
      clientMetadataOf("new-scope", { scope: `openid ${missing}` }),
    );
    await ehr.subscribe(slug);
    const failed = await ehr.clientWhen(slug, "it has failed", ({ status }) => status === "failed");
    assert.match(failed.reason ?? "", /403: insufficient_scope\.$/);
    await realm.run(["configure"], `${await readScopes()}\n${missing}\n`);
    await ehr.settle("POST", `${failed.id}/retry`);
    const { clientId } = await ehr.clientWhen(slug, "it is ready", isReady);
    assert.deepEqual((await realm.readClient(clientId ?? ""))?.optionalClientScopes, [missing]);
  });

  test("that were deleted in Keycloak are uncertain at their next update, and the operator has another one registered", async () => {
    const slug = "deleted-then-changed";
    const { clientId } = await connect(slug);
    await realm.deleteClient(clientId);
    await changeRedirectUris(slug, ["https://app.example/moved"]);
    const uncertain = await ehr.clientWhen(slug, "it is uncertain", ({ status }) => status === "uncertain");
    assert.deepEqual([uncertain.task, uncertain.attempt, uncertain.clientId], ["check", "update", clientId]);
    assert.equal(await realm.readClient(clientId), null, "none was registered in its place");
    await ehr.settle("DELETE", uncertain.id);
    const next = await ehr.clientWhen(slug, "another one is ready", isReady);
    assert.notEqual(next.clientId, clientId);
    assert.deepEqual(await redirectUrisOf(next.clientId ?? ""), ["https://app.example/moved"]);
  });

  test("that were deleted in Keycloak are uncertain when they are to be removed, until the operator says that they are gone", async () => {
    const slug = "deleted-then-cancelled";
    const { clientId, subscription } = await connect(slug);
    await realm.deleteClient(clientId);
    await ehr.cancel(slug, subscription);
    const uncertain = await ehr.clientWhen(slug, "it is uncertain", ({ status }) => status === "uncertain");
    assert.deepEqual([uncertain.task, uncertain.attempt, uncertain.clientId], ["check", "remove", clientId]);
    assert.match(uncertain.reason ?? "", /401: invalid_token/);
    await ehr.settle("DELETE", uncertain.id);
    assert.deepEqual(await ehr.clientsOf(slug), []);
  });
});

describe("Keycloak refuses to register a client, and the connection has failed with its reason", () => {
  const cleanUp = cleanUpAfter();
  let realm: Realm;
  before(async () => {
    realm = await prepareRealm();
  });
  const failureOf = async (ehr: Practice, slug: string, client = clientMetadataOf(slug)): Promise<string> => {
    ehr.marketplace.publish(slug, {}, client);
    await ehr.subscribe(slug);
    const failed = await ehr.clientWhen(slug, "it has failed", ({ status }) => status === "failed");
    assert.deepEqual([failed.clientId, failed.task], [null, null]);
    return failed.reason ?? "";
  };

  test("after the last registration of the initial access token", async () => {
    const ehr = await startPractice(cleanUp, realm, await realm.createInitialToken(1));
    ehr.marketplace.publish("the-first");
    await ehr.subscribe("the-first");
    await ehr.clientWhen("the-first", "it is ready", isReady);
    const reason = "The authorization server responded with 401: invalid_token.";
    assert.equal(await failureOf(ehr, "the-second"), reason);
  });

  test("with a token that isn't one", async () => {
    const ehr = await startPractice(cleanUp, realm, "no-initial-access-token");
    const reason = "The authorization server responded with 401: invalid_token.";
    assert.equal(await failureOf(ehr, "unknown-token"), reason);
  });

  test("with a redirect URI of the loopback, unless the realm is for development", async () => {
    await realm.run(["configure"], await readScopes(), { ALLOW_LOOPBACK: "false" });
    const ehr = await startPractice(cleanUp, realm, await realm.createInitialToken(1));
    const client = clientMetadataOf("on-loopback", { redirect_uris: ["http://127.0.0.1:3000/callback"] });
    const reason = "The authorization server responded with 403: insufficient_scope.";
    assert.equal(await failureOf(ehr, "on-loopback", client), reason);
  });

  test("from a host that the realm doesn't trust", async () => {
    await realm.run(["configure"], await readScopes(), { REGISTRATION_HOSTS: "192.0.2.1" });
    const ehr = await startPractice(cleanUp, realm, await realm.createInitialToken(1));
    assert.match(await failureOf(ehr, "elsewhere"), /403: insufficient_scope\.$/);
  });
});
