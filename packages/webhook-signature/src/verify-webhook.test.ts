import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { type HeaderBag, signBody, standardHeaders, verifyStandard, verifyWebhook } from "./index.ts";

const secret = "a-shared-secret-of-32-characters";
const seconds = 1_772_357_400;
const body = '{"event":"ping"}';
const trio = standardHeaders({ id: "delivery-1", timestamp: seconds, body, secrets: [secret] });
const marketplace = { "x-marketplace-signature": signBody(body, secret) };

function answerTo(headers: HeaderBag, raw: unknown = body, secrets: string[] = [secret]): string {
  const result = verifyWebhook({ headers, body: raw as string, secrets, now: seconds });
  return `${result.valid ? "accepted" : `refused: ${result.reason}`} by ${result.scheme}`;
}

describe("headers are read from all supported forms", () => {
  const bags: Record<string, HeaderBag> = {
    "an object in lower case": { ...trio },
    "an object in upper case": Object.fromEntries(Object.entries(trio).map(([k, v]) => [k.toUpperCase(), v])),
    "the Headers of fetch": new Headers(trio),
    "lists of one value, as Node's headersDistinct": Object.fromEntries(Object.entries(trio).map(([k, v]) => [k, [v]])),
    "an object without a prototype": Object.assign(Object.create(null), trio) as HeaderBag,
    "beside many others": { host: "vendor.example", "set-cookie": ["a", "b"], get: "a header", ...trio },
  };
  for (const [name, headers] of Object.entries(bags)) {
    test(name, () => {
      assert.equal(answerTo(headers), "accepted by standard-webhooks");
    });
  }

  test("the header of the specification too", () => {
    assert.equal(answerTo({ "X-Marketplace-Signature": signBody(body, secret) }), "accepted by marketplace");
    assert.equal(answerTo(new Headers(marketplace)), "accepted by marketplace");
  });
});

describe("a delivery is verified by one scheme", () => {
  test("by Standard Webhooks if both are present", () => {
    assert.equal(answerTo({ ...marketplace, ...trio }), "accepted by standard-webhooks");
  });

  test("never by the scheme without a timestamp after the other refused", () => {
    const old = standardHeaders({ id: "delivery-1", timestamp: seconds - 301, body, secrets: [secret] });
    assert.equal(answerTo({ ...marketplace, ...old }), "refused: too-old by standard-webhooks");
    for (const name of Object.keys(trio)) {
      const rest = Object.fromEntries(Object.entries(trio).filter(([other]) => other !== name));
      assert.equal(answerTo({ ...marketplace, ...rest }), "refused: missing-header by standard-webhooks");
      assert.equal(answerTo({ ...marketplace, ...trio, [name]: "" }).startsWith("refused"), true);
    }
  });

  test("by Standard Webhooks, as missing, if neither is present", () => {
    assert.equal(answerTo({ host: "vendor.example" }), "refused: missing-header by standard-webhooks");
  });
});

describe("a refusal has a reason", () => {
  const forged = { "x-marketplace-signature": "0".repeat(64) };
  const twice = { "x-marketplace-signature": [signBody(body, secret), signBody(body, secret)] };
  const parsed = { event: "ping" };
  const cases: [string, string, HeaderBag, unknown, string[]][] = [
    ["a forged signature", "no-match by marketplace", forged, body, [secret]],
    ["another body", "no-match by marketplace", marketplace, "{}", [secret]],
    ["two signatures in the spec's header", "repeated-header by marketplace", twice, body, [secret]],
    ["a parsed body", "body-not-raw by marketplace", marketplace, parsed, [secret]],
    ["an empty secret", "no-usable-secret by marketplace", marketplace, body, [""]],
    ["a parsed body", "body-not-raw by standard-webhooks", trio, parsed, [secret]],
    ["no secret", "no-usable-secret by standard-webhooks", trio, body, []],
    ["an odd id", "malformed-id by standard-webhooks", { ...trio, "webhook-id": "a.b" }, body, [secret]],
    [
      "an odd time",
      "malformed-timestamp by standard-webhooks",
      { ...trio, "webhook-timestamp": "now" },
      body,
      [secret],
    ],
    [
      "two ids in a list",
      "repeated-header by standard-webhooks",
      { ...trio, "webhook-id": ["a", "a"] },
      body,
      [secret],
    ],
    ["two ids by two names", "repeated-header by standard-webhooks", { ...trio, "Webhook-Id": "a" }, body, [secret]],
  ];
  for (const [name, why, headers, raw, secrets] of cases) {
    test(`${name}: ${why}`, () => {
      assert.equal(answerTo(headers, raw, secrets), `refused: ${why}`);
    });
  }
});

describe("invalid input from a sender is refused without throwing", () => {
  const good = trio["webhook-signature"];
  const odd: Record<string, unknown> = {
    "a megabyte of one signature": "v1,".padEnd(1_000_000, "A"),
    "a megabyte of signatures": `v1,${"A".repeat(43)}= `.repeat(21_000),
    "a megabyte of spaces": " ".repeat(1_000_000),
    "a NUL": `${good}\0`,
    "a letter beyond ASCII": `v1,é${good.slice(4)}`,
    "half a surrogate pair": `v1,\ud800${good.slice(4)}`,
    "signatures parted by a comma": `${good},${good}`,
    "a list of lists": [[good]],
    "a number": 12,
    nothing: undefined,
  };
  for (const [name, value] of Object.entries(odd)) {
    test(name, () => {
      for (const header of Object.keys(trio)) {
        assert.ok(answerTo({ ...trio, [header]: value }).startsWith("refused"), header);
      }
      assert.ok(answerTo({ "x-marketplace-signature": value } as HeaderBag).startsWith("refused"));
    });
  }

  test("arbitrary input", () => {
    const names = [...Object.keys(trio), "x-marketplace-signature"];
    const anyHeaders = fc.oneof(
      fc.anything(),
      fc.dictionary(fc.constantFrom(...names), fc.oneof(fc.anything(), fc.string())),
    );
    fc.assert(
      fc.property(anyHeaders, fc.anything(), fc.anything(), (headers, raw, secrets) => {
        const delivery = { headers, body: raw, secrets, now: seconds } as Parameters<typeof verifyWebhook>[0];
        assert.equal(verifyWebhook(delivery).valid, false);
        assert.equal(verifyStandard(delivery).valid, false);
      }),
    );
  });
});
