import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { launchedApp, type RegisteredClient, register, sendRegistration } from "./registration.test-support.ts";
import { openBrowser } from "./sign-in.ts";
import { type IdentityProvider, startIdentityProvider } from "./start-identity-provider.ts";

type Method = "GET" | "PUT" | "DELETE";

/** Reads, replaces or deletes a client (RFC 7592). */
function manage(client: RegisteredClient, method: Method, body?: object): Promise<Response> {
  return fetch(client.registration_client_uri, {
    method,
    headers: {
      authorization: `Bearer ${client.registration_access_token}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

describe("an app's client", () => {
  const cleanUp = cleanUpAfter();
  let idp: IdentityProvider;
  before(async () => {
    idp = await startIdentityProvider({ port: 0 });
    cleanUp(() => idp.stop());
  });

  /** Whether the authorization endpoint knows the client: it shows a page if it doesn't, and redirects if it does. */
  async function isKnown({ issuer }: IdentityProvider, clientId: string, redirectUri: string): Promise<boolean> {
    const url = new URL(`${issuer}/auth`);
    url.search = new URLSearchParams({
      client_id: clientId,
      redirect_uri: redirectUri,
      response_type: "code",
      scope: "openid",
    }).toString();
    return (await openBrowser()(url)).status === 303;
  }

  test("is registered with its metadata as it was sent", async () => {
    const found = (await (await fetch(`${idp.issuer}/.well-known/openid-configuration`)).json()) as object;
    assert.ok("registration_endpoint" in found);
    assert.equal(found.registration_endpoint, `${idp.issuer}/reg`);
    const response = await sendRegistration(idp.issuer, launchedApp);
    assert.equal(response.status, 201);
    const client = (await response.json()) as RegisteredClient;
    for (const [name, value] of Object.entries(launchedApp)) assert.deepEqual(client[name], value, name);
    assert.deepEqual([client["client_secret"], client["smart_scope"]], [undefined, undefined]);
    assert.equal(client.registration_client_uri, `${idp.issuer}/reg/${client.client_id}`);
    const read = (await (await manage(client, "GET")).json()) as RegisteredClient;
    assert.deepEqual(read, client);
    assert.ok(await isKnown(idp, client.client_id, launchedApp.redirect_uris[0] ?? ""));
  });

  test("is registered by those who have the initial access token only", async () => {
    for (const token of ["", "guessed", await idp.accessToken("operator")]) {
      const response = await sendRegistration(idp.issuer, launchedApp, token);
      assert.ok([400, 401].includes(response.status), `${response.status}`);
    }
  });

  test("is replaced with the token of its last change, and deleted", async () => {
    const client = await register(idp.issuer);
    const redirectUri = "https://vendor.example/other";
    const metadata = { ...launchedApp, client_id: client.client_id, redirect_uris: [redirectUri] };
    const response = await manage(client, "PUT", { ...metadata, scope: "launch openid" });
    assert.equal(response.status, 200);
    const changed = (await response.json()) as RegisteredClient;
    assert.deepEqual([changed["redirect_uris"], changed["scope"]], [[redirectUri], "launch openid"]);
    assert.notEqual(changed.registration_access_token, client.registration_access_token);
    assert.equal((await manage(client, "PUT", metadata)).status, 401);
    assert.ok(await isKnown(idp, client.client_id, redirectUri));
    assert.ok(!(await isKnown(idp, client.client_id, launchedApp.redirect_uris[0] ?? "")));

    assert.equal((await manage(client, "DELETE")).status, 401);
    assert.equal((await manage(changed, "DELETE")).status, 204);
    assert.equal((await manage(changed, "DELETE")).status, 401);
    assert.ok(!(await isKnown(idp, client.client_id, redirectUri)));
  });

  test("can't be changed with the token of another client", async () => {
    const [client, other] = [await register(idp.issuer), await register(idp.issuer)];
    const { registration_access_token } = other;
    assert.equal((await manage({ ...client, registration_access_token }, "DELETE")).status, 401);
    assert.equal((await manage(client, "GET")).status, 200);
  });

  for (const [what, changes, error] of [
    ["a shared secret", { token_endpoint_auth_method: "client_secret_basic" }, "invalid_client_metadata"],
    [
      "no authentication method, which means a secret",
      { token_endpoint_auth_method: undefined },
      "invalid_client_metadata",
    ],
    ["keys that are nowhere", { token_endpoint_auth_method: "private_key_jwt" }, "invalid_client_metadata"],
    ["a redirect URI with a fragment", { redirect_uris: ["https://vendor.example/#x"] }, "invalid_redirect_uri"],
    ["a redirect URI with a scheme of its own", { redirect_uris: ["vendor:back"] }, "invalid_redirect_uri"],
    ["any port of the loopback", { application_type: "native" }, "invalid_client_metadata"],
    ["another grant type", { grant_types: ["password"] }, "invalid_client_metadata"],
    ["a scope that isn't SMART's", { scope: "launch openid admin" }, "invalid_client_metadata"],
    ["a scope of 40,001 characters", { scope: "launch ".repeat(5_715) }, "invalid_client_metadata"],
    ["a software_id that isn't text", { software_id: 7 }, "invalid_client_metadata"],
  ] as const) {
    test(`is refused with ${what}`, async () => {
      const response = await sendRegistration(idp.issuer, { ...launchedApp, ...changes });
      const said = (await response.json()) as { error: string };
      assert.deepEqual([response.status, said.error], [400, error]);
    });
  }

  test("outlives the process if it has a file", async () => {
    const directory = await mkdtemp(join(tmpdir(), "clients-"));
    cleanUp(() => rm(directory, { recursive: true }));
    const clientsFile = join(directory, "clients.json");
    const first = await startIdentityProvider({ port: 0, clientsFile });
    const [client, deleted] = [await register(first.issuer), await register(first.issuer)];
    assert.equal((await manage(deleted, "DELETE")).status, 204);
    await first.stop();
    const second = await startIdentityProvider({ port: Number(new URL(first.issuer).port), clientsFile });
    cleanUp(() => second.stop());
    const read = (await (await manage(client, "GET")).json()) as RegisteredClient;
    assert.deepEqual(read, client);
    assert.equal((await manage(deleted, "GET")).status, 401);
  });
});
