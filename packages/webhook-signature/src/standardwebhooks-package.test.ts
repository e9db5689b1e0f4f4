import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { standardHeaders, verifyStandard } from "./index.ts";

const id = "0198c1a2-7b1e-7c43-9d2f-3c1b5e7a9f11";
const body = '{"event":"ping","note":"Grüße 🩺","website":"https:\\/\\/vendor.example"}';
const decoded = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";
const text = "Schlüssel-für-die-Praxis";

/** The package decodes a secret from Base64 unless the format is raw. */
function theirs(secret: string): Webhook {
  return secret.startsWith("whsec_") ? new Webhook(secret) : new Webhook(Buffer.from(secret), { format: "raw" });
}

function ours(secrets: string[]): Record<string, string> {
  return standardHeaders({ id, timestamp: new Date(), body, secrets });
}

describe("the package is compatible with standardwebhooks", () => {
  for (const secret of [decoded, text]) {
    test(`we sign with ${secret}, they verify`, () => {
      assert.deepEqual(theirs(secret).verify(body, ours([secret])), JSON.parse(body));
      assert.throws(() => theirs(secret).verify(`${body} `, ours([secret])), /No matching signature/);
    });

    test(`they sign with ${secret}, we verify`, () => {
      const timestamp = new Date();
      const headers = {
        "webhook-id": id,
        "webhook-timestamp": String(Math.floor(timestamp.getTime() / 1000)),
        "webhook-signature": theirs(secret).sign(id, timestamp, body),
      };
      assert.deepEqual(verifyStandard({ headers, body: Buffer.from(body), secrets: [secret] }), { valid: true });
      assert.equal(verifyStandard({ headers, body: `${body} `, secrets: [secret] }).valid, false);
    });
  }

  test("during a rotation, each of two signatures verifies on the other side", () => {
    const headers = ours([text, decoded]);
    for (const secret of [text, decoded]) assert.ok(theirs(secret).verify(body, headers));

    const timestamp = new Date(Number(headers["webhook-timestamp"]) * 1000);
    const both = [text, decoded].map((secret) => theirs(secret).sign(id, timestamp, body)).join(" ");
    assert.equal(both, headers["webhook-signature"]);
    for (const secret of [text, decoded]) assert.ok(verifyStandard({ headers, body, secrets: [secret] }).valid);
  });

  test("both create the same signature for any key and any JSON", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1 }), fc.json(), fc.nat(), (key, json, timestamp) => {
        const secret = `whsec_${Buffer.from(key).toString("base64")}`;
        const headers = standardHeaders({ id, timestamp, body: json, secrets: [secret] });
        assert.equal(theirs(secret).sign(id, new Date(timestamp * 1000), json), headers["webhook-signature"]);
      }),
    );
  });
});
