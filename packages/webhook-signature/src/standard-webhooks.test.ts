import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { type HeaderBag, isUsableSecret, standardHeaders, verifyStandard } from "./index.ts";

const secret = "a-shared-secret-of-32-characters";
const seconds = 1_772_357_400;
const body = '{"event":"ping"}';
const signed = standardHeaders({ id: "delivery-1", timestamp: seconds, body, secrets: [secret] });

function answerTo(headers: HeaderBag, now: Date | number = seconds, toleranceSeconds?: number): string {
  const result = verifyStandard({ headers, body, secrets: [secret], now, toleranceSeconds });
  return result.valid ? "valid" : result.reason;
}

const anyId = fc.stringMatching(/^[!-\-/-~]+$/);
const anySecret = fc.oneof(
  fc.string({ minLength: 1, unit: "binary" }).filter(isUsableSecret),
  fc.uint8Array({ minLength: 1 }).map((key) => `whsec_${Buffer.from(key).toString("base64")}`),
);

describe("the headers of Standard Webhooks", () => {
  test("are valid for the signed delivery, with any of the secrets", () => {
    fc.assert(
      fc.property(anyId, fc.nat(), fc.uint8Array(), anySecret, anySecret, (id, now, raw, one, other) => {
        const headers = standardHeaders({ id, timestamp: now, body: raw, secrets: [one, other] });
        assert.deepEqual(verifyStandard({ headers, body: raw, secrets: [one], now }), { valid: true });
        assert.deepEqual(verifyStandard({ headers, body: raw, secrets: [other], now }), { valid: true });
      }),
    );
  });

  test("fail when one bit of the body, the id or the time differs", () => {
    fc.assert(
      fc.property(anyId, anyId, fc.uint8Array({ minLength: 1 }), fc.nat(), fc.nat(7), (id, otherId, raw, at, bit) => {
        const headers = standardHeaders({ id, timestamp: seconds, body: raw, secrets: [secret] });
        const altered = raw.map((byte, index) => (index === at % raw.length ? byte ^ (1 << bit) : byte));
        const noMatch = { valid: false, reason: "no-match" };
        const given = { headers, body: raw, secrets: [secret], now: seconds };
        assert.deepEqual(verifyStandard({ ...given, body: altered }), noMatch);
        assert.deepEqual(verifyStandard({ ...given, body: raw.slice(1) }), noMatch);
        const later = { ...headers, "webhook-timestamp": String(seconds + 1) };
        assert.deepEqual(verifyStandard({ ...given, headers: later }), noMatch);
        const renamed = { ...headers, "webhook-id": otherId };
        assert.equal(verifyStandard({ ...given, headers: renamed }).valid, id === otherId);
      }),
    );
  });

  test("fail when one character of the signature differs, or it is cut short", () => {
    const signature = signed["webhook-signature"];
    fc.assert(
      fc.property(fc.nat(signature.length - 1), fc.string({ minLength: 1, maxLength: 1, unit: "binary" }), (at, c) => {
        const altered = signature.slice(0, at) + c + signature.slice(at + 1);
        fc.pre(altered !== signature);
        assert.equal(answerTo({ ...signed, "webhook-signature": altered }), "no-match");
        assert.equal(answerTo({ ...signed, "webhook-signature": signature.slice(0, at) }), "no-match");
      }),
    );
  });

  test("accept the time as a date or in seconds", () => {
    const timestamp = new Date(seconds * 1000 + 999);
    assert.deepEqual(standardHeaders({ id: "delivery-1", timestamp, body, secrets: [secret] }), signed);
  });

  test("aren't created from invalid input", () => {
    const delivery = { id: "delivery-1", timestamp: seconds, body, secrets: [secret] };
    for (const id of ["", "a.b", "a b", "ä", "a\n", undefined as unknown as string]) {
      assert.throws(() => standardHeaders({ ...delivery, id }), TypeError);
    }
    for (const timestamp of [1.5, -1, Number.NaN, Infinity, seconds * 1000, new Date(Number.NaN)]) {
      assert.throws(() => standardHeaders({ ...delivery, timestamp }), TypeError);
    }
    assert.throws(() => standardHeaders({ ...delivery, body: {} as string }), TypeError);
  });
});

describe("the time of a delivery", () => {
  test("may differ from the clock by up to 300 seconds, fractions aside", () => {
    assert.equal(answerTo(signed, seconds + 300), "valid");
    assert.equal(answerTo(signed, new Date((seconds + 300) * 1000 + 999)), "valid");
    assert.equal(answerTo(signed, seconds + 301), "too-old");
    assert.equal(answerTo(signed, seconds - 300), "valid");
    assert.equal(answerTo(signed, seconds - 301), "too-new");
  });

  test("has the tolerance that the receiver chooses", () => {
    assert.equal(answerTo(signed, seconds, 0), "valid");
    assert.equal(answerTo(signed, seconds + 1, 0), "too-old");
    assert.equal(answerTo(signed, seconds - 1, 0), "too-new");
    assert.equal(answerTo(signed, seconds + 3600, 3600), "valid");
  });

  test("is refused when the receiver's clock or tolerance is no number", () => {
    assert.equal(answerTo(signed, new Date(Number.NaN)), "too-old");
    assert.equal(answerTo(signed, seconds, Number.NaN), "too-old");
  });

  test("is compared with the system clock by default", () => {
    const now = standardHeaders({ id: "delivery-1", timestamp: new Date(), body, secrets: [secret] });
    assert.deepEqual(verifyStandard({ headers: now, body, secrets: [secret] }), { valid: true });
    assert.deepEqual(verifyStandard({ headers: signed, body, secrets: [secret], now: undefined }).valid, false);
  });

  test("is checked only after the signature", () => {
    assert.equal(answerTo({ ...signed, "webhook-signature": "v1,forged" }, seconds + 9000), "no-match");
  });
});
