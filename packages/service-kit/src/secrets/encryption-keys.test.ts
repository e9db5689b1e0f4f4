import assert from "node:assert/strict";
import { test } from "node:test";
import { readEnvironment } from "../config/index.ts";
import { encryptionKeys, parseEncryptionKeys } from "./index.ts";

const key = (byte: number): string => Buffer.alloc(32, byte).toString("base64");

test("the first entry is the current version, whatever its number", () => {
  const keys = parseEncryptionKeys(` 2:${key(2)} ,10:${key(10)},\n1:${key(1)}`);
  assert.equal(keys.current, 2);
  assert.deepEqual(
    [...keys.byVersion].map(([version, { length }]) => [version, length]),
    [
      [2, 32],
      [10, 32],
      [1, 32],
    ],
  );
  assert.deepEqual(keys.byVersion.get(2), Buffer.alloc(32, 2));
});

const form = "an entry doesn't have the form version:key, with a key of 32 bytes in Base64";
for (const [what, given, reason] of [
  ["nothing", "", form],
  ["a key without its version", key(1), form],
  ["a version without its key", "1:", form],
  ["version 0", `0:${key(1)}`, form],
  ["a version that isn't a number", `one:${key(1)}`, form],
  ["a version with zeros before it", `01:${key(1)}`, form],
  ["a negative version", `-1:${key(1)}`, form],
  ["a version with 400 digits", `${"9".repeat(400)}:${key(1)}`, form],
  ["a key of 31 bytes", `1:${Buffer.alloc(31).toString("base64")}`, form],
  ["a key of 33 bytes", `1:${Buffer.alloc(33).toString("base64")}`, form],
  ["a key in hexadecimal", `1:${Buffer.alloc(32).toString("hex")}`, form],
  ["a key in base64url", `1:${Buffer.alloc(32, 255).toString("base64url")}`, form],
  ["an empty entry", `1:${key(1)},`, form],
  ["a version twice", `1:${key(1)},1:${key(2)}`, "version 1 is repeated"],
] as const) {
  test(`${what} is refused`, () => {
    assert.throws(() => parseEncryptionKeys(given), { message: reason });
  });
}

test("errors don't contain a key", () => {
  const specs = { ENCRYPTION_KEYS: encryptionKeys({ desc: "Keys that seal secrets" }) };
  for (const wrong of [`1:${key(77)},1:${key(77)}`, `1:${key(77)},2:${key(77).slice(1)}`, key(77)]) {
    assert.throws(
      () => readEnvironment({ ENCRYPTION_KEYS: wrong }, specs),
      (error: Error) => error.message.includes("ENCRYPTION_KEYS: ") && !error.message.includes(key(77).slice(0, 10)),
    );
  }
  const { ENCRYPTION_KEYS: read } = readEnvironment({ ENCRYPTION_KEYS: `3:${key(3)}` }, specs);
  assert.equal(read.current, 3);
});
