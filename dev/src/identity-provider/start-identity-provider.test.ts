import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { networkInterfaces } from "node:os";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { decodeProtectedHeader, exportJWK, generateKeyPair, type JWK } from "jose";
import { type IdentityProvider, startIdentityProvider } from "./start-identity-provider.ts";

const run = promisify(execFile);
const wholeLife = `
  import { signIn, startIdentityProvider } from ${JSON.stringify(new URL("index.ts", import.meta.url).href)};
  const idp = await startIdentityProvider({ port: 0 });
  await idp.accessToken("operator");
  await signIn(idp.issuer, "operator");
  await fetch(idp.issuer + "/auth", { headers: { accept: "text/html" } });
  await idp.stop();
`;

async function json(url: string): Promise<Record<string, unknown>> {
  const response = await fetch(url);
  assert.equal(response.status, 200);
  return (await response.json()) as Record<string, unknown>;
}

async function keyCalled(kid: string): Promise<JWK> {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  return { ...(await exportJWK(privateKey)), kid, alg: "RS256", use: "sig" };
}

function requestToken(issuer: string, credentials: string, parameters: Record<string, string> = {}): Promise<Response> {
  return fetch(`${issuer}/token`, {
    method: "POST",
    headers: { authorization: `Basic ${btoa(credentials)}` },
    body: new URLSearchParams({ grant_type: "client_credentials", ...parameters }),
  });
}

describe("the identity provider", () => {
  let idp: IdentityProvider;
  before(async () => {
    idp = await startIdentityProvider({ port: 0 });
  });
  after(() => idp.stop());

  test("can be discovered", async () => {
    const found = await json(`${idp.issuer}/.well-known/openid-configuration`);
    assert.equal(found["issuer"], idp.issuer);
    assert.equal(found["jwks_uri"], idp.jwksUrl);
    assert.equal(found["authorization_endpoint"], `${idp.issuer}/auth`);
    assert.equal(found["token_endpoint"], `${idp.issuer}/token`);
    assert.deepEqual(found["response_types_supported"], ["code"]);
    assert.deepEqual(found["code_challenge_methods_supported"], ["S256"]);
    assert.deepEqual(found["id_token_signing_alg_values_supported"], ["RS256"]);
  });

  test("publishes its keys without their private parts", async () => {
    const { keys } = (await json(idp.jwksUrl)) as { keys: JWK[] };
    assert.equal(keys.length, 1);
    assert.deepEqual(Object.keys(keys[0] ?? {}).toSorted(), ["alg", "e", "kid", "kty", "n", "use"]);
    assert.equal(keys[0]?.alg, "RS256");
    assert.equal(keys[0]?.use, "sig");
    assert.equal(keys[0]?.kid, idp.keys[0]?.kid);
    assert.equal(Buffer.from(keys[0]?.n ?? "", "base64url").length, 256);
    assert.equal(typeof idp.keys[0]?.d, "string");
  });

  test("refuses a wrong secret, an unknown client and another grant", async () => {
    const refusals: [Promise<Response>, number, string][] = [
      [requestToken(idp.issuer, "operator:guessed"), 401, "invalid_client"],
      [requestToken(idp.issuer, "nobody:development-only"), 401, "invalid_client"],
      [
        requestToken(idp.issuer, "operator:development-only", { grant_type: "refresh_token", refresh_token: "x" }),
        400,
        "invalid_request",
      ],
      [
        requestToken(idp.issuer, "operator:development-only", { resource: "https://elsewhere.example" }),
        400,
        "invalid_target",
      ],
    ];
    for (const [asked, status, error] of refusals) {
      const response = await asked;
      const said = (await response.json()) as Record<string, unknown>;
      assert.deepEqual([response.status, said["error"], said["access_token"]], [status, error, undefined]);
    }
  });

  test("listens on 127.0.0.1 only", async () => {
    const { port } = new URL(idp.issuer);
    const others = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .filter(({ address, scopeid = 0 }) => address !== "127.0.0.1" && scopeid === 0)
      .map(({ address, family }) => (family === "IPv6" ? `[${address}]` : address));
    for (const host of ["127.0.0.2", ...others]) {
      await assert.rejects(fetch(`http://${host}:${port}/jwks`), TypeError, host);
    }
  });
});

test("another instance with other keys can take over its port, and signs with the first key", async () => {
  const [old, fresh] = [await keyCalled("old"), await keyCalled("fresh")];
  const first = await startIdentityProvider({ port: 0, keys: [old] });
  const signedBefore = decodeProtectedHeader(await first.accessToken("operator"));
  await first.stop();
  await first.stop();
  await assert.rejects(first.accessToken("operator"), /is not running/);

  const second = await startIdentityProvider({ port: Number(new URL(first.issuer).port), keys: [fresh, old] });
  try {
    assert.equal(second.issuer, first.issuer);
    const signedAfter = decodeProtectedHeader(await second.accessToken("operator"));
    assert.deepEqual([signedBefore.kid, signedAfter.kid], ["old", "fresh"]);
    const { keys } = (await json(second.jwksUrl)) as { keys: JWK[] };
    assert.deepEqual(
      keys.map(({ kid }) => kid),
      ["fresh", "old"],
    );
    await assert.rejects(startIdentityProvider({ port: Number(new URL(first.issuer).port) }), { code: "EADDRINUSE" });
  } finally {
    await second.stop();
  }
});

test("writes nothing to the console", async () => {
  // Runs in a process of its own, because the library prints its warnings once per process.
  const { stdout, stderr } = await run(process.execPath, ["--input-type=module", "--eval", wholeLife]);
  assert.deepEqual({ stdout, stderr }, { stdout: "", stderr: "" });
});
