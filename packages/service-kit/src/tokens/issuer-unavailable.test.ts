import assert from "node:assert/strict";
import type { RequestListener } from "node:http";
import { before, describe, test } from "node:test";
import { assertPrompt, cleanUpAfter, eventually, promisedMs } from "@ehr-marketplace/test-kit";
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

const hour = 3_600_000;
const refreshInterval = 300_000;
const coolDown = 5_000;

describe("while the issuer is unavailable", () => {
  test("known keys stay in use, for an hour and longer", async (t) => {
    const { issuer, tokens, warnings } = await startVerifierWithKeys(t, first);
    await issuer.stop();
    t.mock.timers.tick(hour);
    await eventually("the fetch has failed", 30_000, () => warnings.length > 0);
    assert.equal((await tokens.verify(await signToken(first))).subject, "somebody");
    assert.match(String(warnings[0]), /failed to fetch the token issuer's keys; continuing with the known keys/);
  });

  for (const [kind, listener] of Object.entries<RequestListener>({
    "an error": (_request, response) => response.writeHead(500).end(JSON.stringify({ keys: [second.jwk] })),
    "a page": (_request, response) => response.end("<html></html>"),
    "a redirect": (_request, response) => response.writeHead(302, { location: "/keys" }).end(),
    "no key": (_request, response) => response.end('{"keys":[]}'),
    "no set": (_request, response) => response.end("{}"),
    null: (_request, response) => response.end("null"),
    "a set of something else": (_request, response) => response.end('{"keys":["first"]}'),
    "no key that can be used": (_request, response) => response.end('{"keys":[{"kty":"RSA","kid":"first"}]}'),
    "half a set": (_request, response) =>
      void response.writeHead(200, { "content-length": "99" }).write('{"keys":[', () => response.destroy()),
  })) {
    test(`the last valid keys stay in use when it responds with ${kind}`, async (t) => {
      const { issuer, tokens, warnings } = await startVerifierWithKeys(t, first);
      issuer.respondWith(listener);
      t.mock.timers.tick(refreshInterval);
      await eventually("the response was refused", 30_000, () => warnings.length === 1);
      assert.equal(issuer.requestCount, 2);
      await tokens.verify(await signToken(first));
      issuer.publish(second);
      t.mock.timers.tick(refreshInterval);
      await eventually("the next valid response is used", 30_000, () => isRefused(tokens, first));
      await tokens.verify(await signToken(second));
    });
  }

  test("verification with known keys doesn't wait for a hanging issuer", async (t) => {
    const { issuer, tokens } = await startVerifierWithKeys(t, first);
    issuer.respondWith(() => undefined);
    t.mock.timers.tick(refreshInterval);
    await eventually("it has received the request", 30_000, () => issuer.requestCount === 2);
    const token = await signToken(first);
    await assertPrompt(1_000, () => tokens.verify(token));
  });

  test("from the start, verification fails with IssuerUnavailableError, and recovers later", async (t) => {
    const cleanUp = cleanUpAfter(t);
    const issuer = await startIssuer(cleanUp, first);
    await issuer.stop();
    const { tokens, warnings } = startVerifier(cleanUp, issuer.jwksUrl);
    const token = await signToken(first);
    await assert.rejects(tokens.verify(token), IssuerUnavailableError);
    assert.match(
      String(warnings[0]),
      /failed to fetch the token issuer's keys; refusing all tokens until a fetch succeeds/,
    );
    await issuer.start();
    const isVerified = (): Promise<boolean> =>
      tokens.verify(token).then(
        () => true,
        () => false,
      );
    await eventually("it recovers", promisedMs(coolDown + 1_000), isVerified);
  });

  test("an issuer without any key counts as unavailable", async (t) => {
    const cleanUp = cleanUpAfter(t);
    const issuer = await startIssuer(cleanUp);
    await assert.rejects(
      startVerifier(cleanUp, issuer.jwksUrl).tokens.verify(await signToken(first)),
      IssuerUnavailableError,
    );
  });

  for (const [how, listener] of Object.entries<RequestListener>({
    "doesn't respond": () => undefined,
    "stops in the middle": (_request, response) => void response.write('{"keys":['),
  })) {
    test(`waits three seconds for an issuer that ${how}`, async (t) => {
      const cleanUp = cleanUpAfter(t);
      const issuer = await startIssuer(cleanUp);
      issuer.respondWith(listener);
      const began = performance.now();
      await assert.rejects(
        startVerifier(cleanUp, issuer.jwksUrl).tokens.verify(await signToken(first)),
        IssuerUnavailableError,
      );
      const waited = performance.now() - began;
      assert.ok(waited > 2_500 && waited < promisedMs(4_500), `${waited} ms`);
    });
  }
});
