import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { test } from "node:test";
import { parseEncryptionKeys } from "./encryption-keys.ts";
import { createKeyedDigest } from "./keyed-digest.ts";

const entry = (version: number): string => `${version}:${Buffer.alloc(32, version).toString("base64")}`;
const digestWith = (...versions: number[]) =>
  createKeyedDigest(parseEncryptionKeys(versions.map(entry).join(",")), "test");

test("a digest is deterministic, and differs between values", () => {
  assert.equal(digestWith(1).create("value"), digestWith(1).create("value"));
  assert.notEqual(digestWith(1).create("value"), digestWith(1).create("Value"));
  assert.match(digestWith(1).create("value"), /^1\.[\w-]{43}$/);
});

test("a digest equals neither a plain hash, nor an HMAC with the encryption key, nor a digest of another purpose", () => {
  const [, digest] = digestWith(1).create("value").split(".");
  assert.notEqual(digest, createHash("sha256").update("value").digest("base64url"));
  assert.notEqual(digest, createHmac("sha256", Buffer.alloc(32, 1)).update("value").digest("base64url"));
  const other = createKeyedDigest(parseEncryptionKeys(entry(1)), "another purpose");
  assert.notEqual(other.create("value"), digestWith(1).create("value"));
  assert.equal(other.matches(digestWith(1).create("value"), "value"), false);
});

test("a digest still matches after key rotation, and only for its value", () => {
  const old = digestWith(1).create("value");
  assert.equal(digestWith(2, 1).matches(old, "value"), true);
  assert.equal(digestWith(2, 1).matches(old, "another"), false);
  assert.match(digestWith(2, 1).create("value"), /^2\./);
  assert.equal(digestWith(1, 2).matches(digestWith(2, 1).create("value"), "value"), true);
});

test("comparing a digest of a removed key fails and names the version", () => {
  assert.throws(() => digestWith(2).matches(digestWith(1).create("value"), "value"), /ENCRYPTION_KEYS lacks version 1/);
});

for (const digest of ["1.", "1.AAAA", `1.${"A".repeat(43)}`]) {
  test(`${digest.slice(0, 10)} matches nothing`, () => {
    assert.equal(digestWith(1).matches(digest, "value"), false);
  });
}
