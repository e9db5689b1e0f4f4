import assert from "node:assert/strict";
import type { RequestListener } from "node:http";
import { before, describe, test } from "node:test";
import { cleanUpAfter, eventually } from "@ehr-marketplace/tests/support";
import {
  isRefused,
  newKey,
  type SigningKey,
  signed,
  startedWith,
  startIssuer,
  startVerifier,
} from "./issuer.test-support.ts";
import { IssuerAwayError } from "./issuer-keys.ts";

let first: SigningKey;
let second: SigningKey;
before(async () => {
  first = await newKey("first");
  second = await newKey("second");
});

const hour = 3_600_000;
const regularly = 300_000;
const coolDown = 5_000;

describe("while the issuer is away", () => {
  test("the keys that are known stay in use, for an hour and longer", async (t) => {
    const { issuer, tokens, warnings } = await startedWith(t, first);
    await issuer.leave();
    t.mock.timers.tick(hour);
    await eventually("it was asked in vain", 5_000, () => warnings.length > 0);
    assert.equal((await tokens.verify(await signed(first))).subject, "somebody");
    assert.match(String(warnings[0]), /the token issuer's keys can't be fetched; those known so far stay in use/);
  });

  for (const [answer, listener] of Object.entries<RequestListener>({
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
    test(`the last good keys stay in use when it answers with ${answer}`, async (t) => {
      const { issuer, tokens, warnings } = await startedWith(t, first);
      issuer.answerWith(listener);
      t.mock.timers.tick(regularly);
      await eventually("the answer was refused", 5_000, () => warnings.length === 1);
      assert.equal(issuer.asked, 2);
      await tokens.verify(await signed(first));
      issuer.publish(second);
      t.mock.timers.tick(regularly);
      await eventually("the next good answer is used", 5_000, () => isRefused(tokens, first));
      await tokens.verify(await signed(second));
    });
  }

  test("known keys don't wait for an issuer that hangs", async (t) => {
    const { issuer, tokens } = await startedWith(t, first);
    issuer.answerWith(() => undefined);
    t.mock.timers.tick(regularly);
    await eventually("it is being asked", 5_000, () => issuer.asked === 2);
    const began = performance.now();
    await tokens.verify(await signed(first));
    assert.ok(performance.now() - began < 1_000);
  });

  test("from the start, no token can be verified, which says nothing against the token; and it recovers", async (t) => {
    const cleanUp = cleanUpAfter(t);
    const issuer = await startIssuer(cleanUp, first);
    await issuer.leave();
    const { tokens } = startVerifier(cleanUp, issuer.jwksUrl);
    const token = await signed(first);
    await assert.rejects(tokens.verify(token), IssuerAwayError);
    await issuer.comeBack();
    const began = performance.now();
    const isVerified = (): Promise<boolean> =>
      tokens.verify(token).then(
        () => true,
        () => false,
      );
    await eventually("it recovers", coolDown + 2_000, isVerified);
    assert.ok(performance.now() - began <= coolDown + 1_000, `after ${performance.now() - began} ms`);
  });

  test("an issuer that starts with no key at all counts as away", async (t) => {
    const cleanUp = cleanUpAfter(t);
    const issuer = await startIssuer(cleanUp);
    await assert.rejects(startVerifier(cleanUp, issuer.jwksUrl).tokens.verify(await signed(first)), IssuerAwayError);
  });

  for (const [how, listener] of Object.entries<RequestListener>({
    "says nothing": () => undefined,
    "stops in the middle": (_request, response) => void response.write('{"keys":['),
  })) {
    test(`an issuer that ${how} is waited for three seconds`, async (t) => {
      const cleanUp = cleanUpAfter(t);
      const issuer = await startIssuer(cleanUp);
      issuer.answerWith(listener);
      const began = performance.now();
      await assert.rejects(startVerifier(cleanUp, issuer.jwksUrl).tokens.verify(await signed(first)), IssuerAwayError);
      const waited = performance.now() - began;
      assert.ok(waited > 2_500 && waited < 4_500, `${waited} ms`);
    });
  }
});
