import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { before, describe, test } from "node:test";
import { cleanUpAfter, eventually } from "@ehr-marketplace/test-kit";
import { exportJWK, type JWK } from "jose";
import {
  createKey,
  isRefused,
  type SigningKey,
  signToken,
  startIssuer,
  startVerifier,
  startVerifierWithKeys,
} from "./issuer.test-support.ts";
import { IssuerUnavailableError } from "./issuer-keys.ts";

let first: SigningKey;
let second: SigningKey;
before(async () => {
  first = await createKey("first");
  second = await createKey("second");
});

const unpublished = {
  name: "TokenRefusedError",
  message: "It is signed with a key that its issuer doesn't publish.",
};
const hour = 3_600_000;
const refreshInterval = 300_000;
const coolDown = 5_000;

describe("key rotation", () => {
  test("a new key works once the issuer is available and the cool-down is over, after one request", async (t) => {
    const cleanUp = cleanUpAfter(t);
    const issuer = await startIssuer(cleanUp, first);
    const { tokens } = startVerifier(cleanUp, issuer.jwksUrl);
    await tokens.verify(await signToken(first));
    await issuer.stop();
    await assert.rejects(tokens.verify(await signToken(second)), unpublished);
    issuer.publish(second);
    await issuer.start();
    await eventually("the new key works", coolDown + 20_000, async () => !(await isRefused(tokens, second)));
    assert.equal(issuer.requestCount, 2);
  });

  test("a new key is fetched immediately outside the cool-down", async (t) => {
    const { issuer, tokens } = await startVerifierWithKeys(t, first);
    issuer.publish(first, second);
    t.mock.timers.tick(coolDown);
    await tokens.verify(await signToken(second));
    assert.equal(issuer.requestCount, 2);
  });

  test("a key that the issuer has removed works until the regular refresh, and not after it", async (t) => {
    const { issuer, tokens } = await startVerifierWithKeys(t, first);
    issuer.publish(second);
    t.mock.timers.tick(refreshInterval - 1);
    assert.equal(await isRefused(tokens, first), false);
    t.mock.timers.tick(1);
    await eventually("it is refused", 20_000, () => isRefused(tokens, first));
    await assert.rejects(tokens.verify(await signToken(first)), unpublished);
  });

  test("setting the clock back an hour doesn't delay new keys", async (t) => {
    const { issuer, tokens } = await startVerifierWithKeys(t, first);
    issuer.publish(first, second);
    t.mock.timers.setTime(Date.now() - hour);
    await tokens.verify(await signToken(second));
  });
});

test("an unusable key is ignored, and the others work", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const weak = generateKeyPairSync("rsa", { modulusLength: 1_024 });
  const unusable: Record<string, JWK> = {
    weak: await exportJWK(weak.publicKey),
    broken: { ...first.jwk, x: "AA" },
    private: await exportJWK(first.privateKey),
    secret: { kty: "oct", k: "c2VjcmV0" },
    unheard: { kty: "unheard-of" },
  };
  const issuer = await startIssuer(cleanUp, first);
  const keys = Object.entries(unusable).map(([kid, jwk]) => ({ ...jwk, kid }));
  issuer.respondWith((_request, response) => response.end(JSON.stringify({ keys: [...keys, first.jwk] })));
  const { tokens } = startVerifier(cleanUp, issuer.jwksUrl);
  await tokens.verify(await signToken(first));
  const [, payload, signature] = (await signToken(first)).split(".");
  for (const kid of Object.keys(unusable)) {
    for (const alg of ["RS256", "ES256"]) {
      const header = Buffer.from(JSON.stringify({ alg, kid })).toString("base64url");
      await assert.rejects(tokens.verify(`${header}.${payload}.${signature}`), unpublished, `${alg} ${kid}`);
    }
  }
});

for (const [what, published] of [
  ["the discovery document", { issuer: "https://issuer.example", jwks_uri: "https://issuer.example/keys" }],
  ["null", null],
  ["keys that aren't an array", { keys: {} }],
] as const) {
  test(`a JWKS URL that returns ${what}: the log names the variable and the field to use`, async (t) => {
    const cleanUp = cleanUpAfter(t);
    const issuer = await startIssuer(cleanUp, first);
    issuer.respondWith((_request, response) => response.end(JSON.stringify(published)));
    const { tokens, warnings } = startVerifier(cleanUp, issuer.jwksUrl);
    await assert.rejects(tokens.verify(await signToken(first)), IssuerUnavailableError);
    const { err } = JSON.parse(warnings[0] ?? "") as { err: { message: string } };
    assert.equal(
      err.message,
      "the token issuer's response has no `keys`; set TOKEN_JWKS_URL to the `jwks_uri` of its discovery document",
    );
  });
}

describe("requests to the issuer", () => {
  test("invented key ids cause one request per cool-down", async (t) => {
    const { issuer, tokens } = await startVerifierWithKeys(t, first);
    const token = await signToken(first);
    const flood = async (): Promise<void> => {
      const refused = await Promise.allSettled(
        Array.from({ length: 1_000 }, (_, n) => {
          const header = Buffer.from(JSON.stringify({ alg: "ES256", kid: `invented-${n}` })).toString("base64url");
          return tokens.verify([header, ...token.split(".").slice(1)].join("."));
        }),
      );
      for (const each of refused) assert.equal((each as PromiseRejectedResult).reason.message, unpublished.message);
    };
    await flood();
    assert.equal(issuer.requestCount, 1, "the cool-down begins with the first fetch");
    t.mock.timers.tick(coolDown);
    await flood();
    assert.equal(issuer.requestCount, 2);
    t.mock.timers.tick(coolDown - 1);
    await flood();
    assert.equal(issuer.requestCount, 2);
    t.mock.timers.tick(1);
    await flood();
    assert.equal(issuer.requestCount, 3);
  });

  test("concurrent first requests share one fetch", async (t) => {
    const cleanUp = cleanUpAfter(t);
    const issuer = await startIssuer(cleanUp, first);
    let release: () => void = () => assert.fail("the issuer was not asked");
    issuer.respondWith((_request, response) => {
      release = () => response.end(JSON.stringify({ keys: [first.jwk] }));
    });
    const { tokens } = startVerifier(cleanUp, issuer.jwksUrl);
    const token = await signToken(first);
    const verifying = Promise.all(Array.from({ length: 50 }, () => tokens.verify(token)));
    await eventually("it is asked", 20_000, () => issuer.requestCount > 0);
    release();
    assert.equal((await verifying).length, 50);
    assert.equal(issuer.requestCount, 1);
  });
});

describe("stop()", () => {
  test("ends the regular refresh", async (t) => {
    const { issuer, tokens } = await startVerifierWithKeys(t, first);
    tokens.stop();
    t.mock.timers.tick(hour);
    await assert.rejects(tokens.verify(await signToken(second)), unpublished);
    assert.equal(issuer.requestCount, 1);
  });

  test("aborts a pending fetch without logging", async (t) => {
    const cleanUp = cleanUpAfter(t);
    const issuer = await startIssuer(cleanUp);
    let closed = false;
    issuer.respondWith((request) => {
      request.once("close", () => {
        closed = true;
      });
    });
    const { tokens, warnings } = startVerifier(cleanUp, issuer.jwksUrl);
    await eventually("it is asked", 20_000, () => issuer.requestCount === 1);
    tokens.stop();
    await eventually("the connection is closed", 20_000, () => closed);
    await assert.rejects(tokens.verify(await signToken(first)), IssuerUnavailableError);
    assert.deepEqual(warnings, []);
  });
});
