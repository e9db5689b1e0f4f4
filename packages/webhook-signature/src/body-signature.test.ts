import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { isUsableSecret, signBody, verifyBody } from "./index.ts";

const secret = "a-shared-secret-of-32-characters";
const anySecret = fc.string({ minLength: 1, unit: "binary" }).filter(isUsableSecret);
const anyBytes = fc.uint8Array({ minLength: 1 });

describe("a body's signature", () => {
  test("is valid for its body and secret", () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array(), fc.string({ unit: "binary" })), anySecret, (body, key) => {
        const signature = signBody(body, key);
        assert.match(signature, /^[0-9a-f]{64}$/);
        assert.equal(verifyBody({ body, signature, secrets: [key] }), true);
        assert.equal(verifyBody({ body: Buffer.from(body), signature: [signature], secrets: ["another", key] }), true);
      }),
    );
  });

  test("fails when one bit of the body differs", () => {
    fc.assert(
      fc.property(anyBytes, fc.nat(), fc.nat(7), (body, at, bit) => {
        const signature = signBody(body, secret);
        const altered = body.map((byte, index) => (index === at % body.length ? byte ^ (1 << bit) : byte));
        assert.equal(verifyBody({ body: altered, signature, secrets: [secret] }), false);
        assert.equal(verifyBody({ body: body.slice(0, -1), signature, secrets: [secret] }), false);
      }),
    );
  });

  test("fails when one of its characters differs, or it is cut short", () => {
    const signature = signBody("{}", secret);
    fc.assert(
      fc.property(fc.nat(63), fc.string({ minLength: 1, maxLength: 1, unit: "binary" }), (at, character) => {
        const altered = signature.slice(0, at) + character + signature.slice(at + 1);
        assert.equal(verifyBody({ body: "{}", signature: altered, secrets: [secret] }), altered === signature);
        assert.equal(verifyBody({ body: "{}", signature: signature.slice(0, at), secrets: [secret] }), false);
      }),
    );
  });

  test("fails for every other secret", () => {
    fc.assert(
      fc.property(anySecret, anySecret, (one, other) => {
        // HMAC pads short keys with zeros, so a secret with trailing NULs is the same key.
        fc.pre(one.replace(/\0+$/, "") !== other.replace(/\0+$/, ""));
        assert.equal(verifyBody({ body: "{}", signature: signBody("{}", one), secrets: [other] }), false);
      }),
    );
  });

  test("verifies for the bytes of another realm, such as a test runner's sandbox", () => {
    const body = runInNewContext("new Uint8Array([123, 125])") as Uint8Array;
    assert.equal(body instanceof Uint8Array, false);
    assert.equal(verifyBody({ body, signature: signBody("{}", secret), secrets: [secret] }), true);
  });
});

describe("invalid input from a sender is refused without throwing", () => {
  const good = signBody("{}", secret);
  const odd: Record<string, unknown> = {
    nothing: undefined,
    "no header of fetch": null,
    "two values": [good, good],
    "no value": [],
    "two values that Node joined": `${good}, ${good}`,
    "a megabyte": good.repeat(16_384),
    "a NUL at the end": `${good}\0`,
    "a NUL for a digit": `\0${good.slice(1)}`,
    "a character whose low byte is right": String.fromCharCode(good.charCodeAt(0) + 0x100) + good.slice(1),
    "half a surrogate pair": `\ud800${good.slice(1)}`,
    "an object": { toString: () => good },
    "bytes of the right signature": Buffer.from(good),
    "a number": 12,
  };
  for (const [name, signature] of Object.entries(odd)) {
    test(name, () => {
      assert.equal(verifyBody({ body: "{}", signature: signature as string, secrets: [secret] }), false);
    });
  }

  test("a body that was parsed, or is missing", () => {
    for (const body of [{}, undefined, null, [123, 125], new ArrayBuffer(2)]) {
      assert.equal(verifyBody({ body: body as string, signature: good, secrets: [secret] }), false);
    }
  });

  test("arbitrary input", () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), fc.anything(), (body, signature, secrets) => {
        const given = { body, signature, secrets } as Parameters<typeof verifyBody>[0];
        assert.equal(verifyBody(given), false);
      }),
    );
  });
});
