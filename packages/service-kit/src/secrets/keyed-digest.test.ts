import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { test } from "node:test";
import { parseEncryptionKeys } from "./encryption-keys.ts";
import { createKeyedDigest } from "./keyed-digest.ts";

const entry = (version: number): string => `${version}:${Buffer.alloc(32, version).toString("base64")}`;
const digestWith = (...versions: number[]) =>
  createKeyedDigest(parseEncryptionKeys(versions.map(entry).join(",")), "test");

test("the same value has the same digest in every process, and another value another", () => {
  assert.equal(digestWith(1).create("value"), digestWith(1).create("value"));
  assert.notEqual(digestWith(1).create("value"), digestWith(1).create("Value"));
  assert.match(digestWith(1).create("value"), /^1\.[\w-]{43}$/);
});

test("a digest is found neither by hashing the value, nor with the encryption key itself, nor for another purpose", () => {
  const [, digest] = digestWith(1).create("value").split(".");
  assert.notEqual(digest, createHash("sha256").update("value").digest("base64url"));
  assert.notEqual(digest, createHmac("sha256", Buffer.alloc(32, 1)).update("value").digest("base64url"));
  const other = createKeyedDigest(parseEncryptionKeys(entry(1)), "another purpose");
  assert.notEqual(other.create("value"), digestWith(1).create("value"));
  assert.equal(other.matches(digestWith(1).create("value"), "value"), false);
});

test("a digest still matches after its key was rotated, and no other value does", () => {
  const old = digestWith(1).create("value");
  assert.equal(digestWith(2, 1).matches(old, "value"), true);
  assert.equal(digestWith(2, 1).matches(old, "another"), false);
  assert.match(digestWith(2, 1).create("value"), /^2\./);
  assert.equal(digestWith(1, 2).matches(digestWith(2, 1).create("value"), "value"), true);
});

test("a digest whose key is gone can't be compared, and the version is named", () => {
  assert.throws(() => digestWith(2).matches(digestWith(1).create("value"), "value"), /ENCRYPTION_KEYS lacks version 1/);
});

for (const digest of ["1.", "1.AAAA", `1.${"A".repeat(43)}`]) {
  test(`${digest.slice(0, 10)} matches nothing`, () => {
    assert.equal(digestWith(1).matches(digest, "value"), false);
  });
}
