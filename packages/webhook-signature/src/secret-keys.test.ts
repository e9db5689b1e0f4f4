import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { describe, test } from "node:test";
import { isUsableSecret, signBody, standardHeaders, verifyBody, verifyStandard } from "./index.ts";

const unusable: Record<string, unknown> = {
  "an empty one": "",
  "whsec_ with nothing after it": "whsec_",
  "whsec_ with letters that aren't Base64": "whsec_not*base64!",
  "whsec_ with Base64 for addresses": "whsec_-_-_",
  "whsec_ with Base64 that lacks its padding": "whsec_QUI",
  "whsec_ with padding only": "whsec_====",
  "whsec_ with a line break after it": "whsec_QUJD\n",
  "none at all": undefined,
  "something else than a string": 42,
};

describe("a secret that can't sign safely", () => {
  for (const [name, secret] of Object.entries(unusable)) {
    test(`${name}: signing throws, and nothing verifies with it`, () => {
      const known = secret as string;
      const delivery = { id: "delivery-1", timestamp: 1_772_357_400, body: "{}" };
      const refusal = (error: unknown): boolean =>
        error instanceof TypeError &&
        /secret/.test(error.message) &&
        (typeof secret !== "string" || secret.length < 7 || !error.message.includes(secret));
      assert.throws(() => signBody("{}", known), refusal);
      assert.throws(() => standardHeaders({ ...delivery, secrets: [known] }), refusal);
      assert.throws(() => standardHeaders({ ...delivery, secrets: ["a-good-one", known] }), refusal);
      assert.equal(isUsableSecret(secret), false);

      // Every key that an implementation might derive from it.
      for (const key of ["", String(secret), Buffer.from(String(secret).slice(6), "base64")]) {
        const hex = createHmac("sha256", key).update("{}").digest("hex");
        assert.equal(verifyBody({ body: "{}", signature: hex, secrets: [known] }), false);
        const base64 = createHmac("sha256", key).update("delivery-1.1772357400.{}").digest("base64");
        const headers = {
          "webhook-id": "delivery-1",
          "webhook-timestamp": "1772357400",
          "webhook-signature": `v1,${base64}`,
        };
        const response = verifyStandard({ headers, body: "{}", secrets: [known], now: delivery.timestamp });
        assert.deepEqual(response, { valid: false, reason: "no-usable-secret" });
      }
    });
  }

  test("doesn't affect a usable secret in the same list", () => {
    const secrets = ["", "whsec_", "a-good-one"];
    assert.equal(verifyBody({ body: "{}", signature: signBody("{}", "a-good-one"), secrets }), true);
  });

  test("is missing: signing without a secret throws", () => {
    const delivery = { id: "delivery-1", timestamp: 0, body: "{}" };
    assert.throws(() => standardHeaders({ ...delivery, secrets: [] }), TypeError);
    assert.throws(() => standardHeaders({ ...delivery, secrets: "not a list" as unknown as string[] }), TypeError);
  });
});

test("every other secret can sign", () => {
  for (const secret of ["x", "Whsec_not base64", "whsec", " ", "whsec_QUI=", "whsec_QQ==", "whsec_++//"]) {
    assert.equal(isUsableSecret(secret), true, secret);
  }
});
