import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import fc from "fast-check";
import { DecryptionError } from "./encryption.ts";
import { createEncryption, parseEncryptionKeys } from "./index.ts";

const keyText = (): string => randomBytes(32).toString("base64");
const [oldKey, newKey] = [`1:${keyText()}`, `2:${keyText()}`];
const encryption = createEncryption(parseEncryptionKeys(oldKey));
const text = fc.string({ unit: "binary" });
const secret = "whsec_hunter2";
const owner = "organisations/1/secret";

function catchDecryptionError(decrypt: () => unknown): DecryptionError {
  try {
    decrypt();
  } catch (error) {
    assert.ok(error instanceof DecryptionError, String(error));
    return error;
  }
  return assert.fail("it was decrypted");
}

test("decrypts an encrypted secret for the same owner", () => {
  fc.assert(
    fc.property(text, text, (given, of) => {
      const encrypted = encryption.encrypt(given, of);
      assert.match(encrypted, /^1\.[\w-]+$/);
      assert.equal(encryption.decrypt(encrypted, of), given);
    }),
  );
});

test("encrypts the same secret differently each time", () => {
  const encrypted = new Set(Array.from({ length: 1_000 }, () => encryption.encrypt(secret, owner)));
  assert.equal(encrypted.size, 1_000);
  assert.equal(new Set([...encrypted].map((each) => each.slice(0, 18))).size, 1_000, "each has its own nonce");
});

describe("an encrypted secret can't be decrypted", () => {
  test("for another owner", () => {
    fc.assert(
      fc.property(text, text, (one, other) => {
        fc.pre(one !== other);
        catchDecryptionError(() => encryption.decrypt(encryption.encrypt(secret, one), other));
      }),
    );
  });

  test("with any character changed", () => {
    const encrypted = encryption.encrypt(secret, owner);
    for (let at = 0; at < encrypted.length; at += 1) {
      for (const other of ["A", "B", "_", "1", "2", "=", " ", ".", "\n", "+", "é"]) {
        if (encrypted[at] === other) continue;
        catchDecryptionError(() => encryption.decrypt(encrypted.slice(0, at) + other + encrypted.slice(at + 1), owner));
      }
    }
  });

  test("with any bit changed", () => {
    const bytes = Buffer.from(encryption.encrypt(secret, owner).slice(2), "base64url");
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      catchDecryptionError(() => encryption.decrypt(`1.${changed.toString("base64url")}`, owner));
    }
  });

  test("with anything added or cut off", () => {
    const encrypted = encryption.encrypt(secret, owner);
    for (const more of ["A", "AAAA", "=", "==", "\n", " ", "."]) {
      catchDecryptionError(() => encryption.decrypt(encrypted + more, owner));
      catchDecryptionError(() => encryption.decrypt(more + encrypted, owner));
    }
    catchDecryptionError(() => encryption.decrypt(`0${encrypted}`, owner));
    for (let length = 0; length < encrypted.length; length += 1)
      catchDecryptionError(() => encryption.decrypt(encrypted.slice(0, length), owner));
  });

  test("with another key of the same version", () => {
    catchDecryptionError(() =>
      createEncryption(parseEncryptionKeys(`1:${keyText()}`)).decrypt(encryption.encrypt(secret, owner), owner),
    );
  });
});

describe("a new version of the key", () => {
  const both = createEncryption(parseEncryptionKeys(`${newKey},${oldKey}`));

  test("decrypts secrets of the old version, and reports them as not current", () => {
    const old = encryption.encrypt(secret, owner);
    assert.equal(both.decrypt(old, owner), secret);
    assert.deepEqual([encryption.isCurrent(old), both.isCurrent(old)], [true, false]);
  });

  test("encrypts new secrets", () => {
    const encrypted = both.encrypt(secret, owner);
    assert.ok(encrypted.startsWith("2.") && both.isCurrent(encrypted));
    assert.equal(createEncryption(parseEncryptionKeys(newKey)).decrypt(encrypted, owner), secret);
  });

  test("doesn't replace the old version: the error names the missing version", () => {
    const onlyNew = createEncryption(parseEncryptionKeys(newKey));
    const { message } = catchDecryptionError(() => onlyNew.decrypt(encryption.encrypt(secret, owner), owner));
    assert.equal(message, "ENCRYPTION_KEYS lacks version 1, which a stored secret is encrypted with");
  });
});

test("no error contains the secret, its ciphertext, or a key", () => {
  const encrypted = encryption.encrypt(secret, owner);
  const both = createEncryption(parseEncryptionKeys(`${newKey},3:${keyText()}`));
  for (const attempt of [
    () => encryption.decrypt(encrypted, "another"),
    () => encryption.decrypt(`${encrypted}A`, owner),
    () => encryption.decrypt(encrypted.slice(0, 20), owner),
    () => both.decrypt(encrypted, owner),
    () => encryption.decrypt(secret, owner),
    () => encryption.isCurrent(secret),
  ]) {
    const error = catchDecryptionError(attempt);
    const output = `${error.stack}${String(error.cause)}${JSON.stringify(error)}`;
    for (const hidden of [secret, encrypted.slice(2, 20), oldKey.slice(2)]) assert.ok(!output.includes(hidden), output);
  }
});
