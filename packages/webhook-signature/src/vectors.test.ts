import assert from "node:assert/strict";
import { describe, test } from "node:test";
// Imported by name, as services do, to test that the exports of the workspace work without a build.
import {
  signBody,
  standardHeaders,
  verifyBody,
  verifyStandard,
  verifyWebhook,
} from "@ehr-marketplace/webhook-signature";
import { vectors } from "./vectors.test-fixture.ts";

describe("X-Marketplace-Signature conforms to the vectors", () => {
  for (const { name, secret, body, signature, valid } of vectors.marketplace) {
    test(`${valid ? "accepts" : "refuses"} ${name}`, () => {
      const headers = { "X-Marketplace-Signature": signature };
      for (const raw of [body, Buffer.from(body, "utf8"), new TextEncoder().encode(body)]) {
        assert.equal(verifyBody({ body: raw, signature, secrets: [secret] }), valid);
        assert.equal(verifyWebhook({ headers, body: raw, secrets: [secret] }).valid, valid);
        if (valid) assert.equal(signBody(raw, secret), signature);
      }
    });
  }
});

describe("the headers of Standard Webhooks conform to the vectors", () => {
  for (const { name, signedBy, secrets, id, timestamp, body, signature, now, valid } of vectors.standard) {
    test(`${valid ? "accepts" : "refuses"} ${name}`, () => {
      const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature };
      for (const raw of [body, Buffer.from(body, "utf8"), new TextEncoder().encode(body)]) {
        assert.equal(verifyStandard({ headers, body: raw, secrets, now }).valid, valid);
        assert.equal(verifyWebhook({ headers, body: raw, secrets, now: new Date(now * 1000) }).valid, valid);
        if (signedBy !== undefined) {
          assert.deepEqual(
            standardHeaders({ id, timestamp: Number(timestamp), body: raw, secrets: signedBy }),
            headers,
          );
        }
      }
    });
  }
});

test("the vectors have cases of each kind", () => {
  for (const kind of [vectors.marketplace, vectors.standard]) {
    assert.ok(kind.filter(({ valid }) => valid).length >= 10);
    assert.ok(kind.filter(({ valid }) => !valid).length >= 10);
  }
});
