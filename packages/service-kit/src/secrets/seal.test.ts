import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import fc from "fast-check";
import { createSeal, parseEncryptionKeys } from "./index.ts";
import { SealBrokenError } from "./seal.ts";

const keyText = (): string => randomBytes(32).toString("base64");
const [oldKey, newKey] = [`1:${keyText()}`, `2:${keyText()}`];
const seal = createSeal(parseEncryptionKeys(oldKey));
const text = fc.string({ unit: "binary" });
const secret = "whsec_hunter2";
const owner = "organisations/1/secret";

function refusalOf(open: () => unknown): SealBrokenError {
  try {
    open();
  } catch (error) {
    assert.ok(error instanceof SealBrokenError, String(error));
    return error;
  }
  return assert.fail("it opened");
}

test("what was sealed for an owner is what that owner opens, and nothing of it shows", () => {
  fc.assert(
    fc.property(text, text, (given, of) => {
      const sealed = seal.close(given, of);
      assert.match(sealed, /^1\.[\w-]+$/);
      assert.equal(seal.open(sealed, of), given);
    }),
  );
});

test("the same secret is sealed differently each time", () => {
  const sealed = new Set(Array.from({ length: 1_000 }, () => seal.close(secret, owner)));
  assert.equal(sealed.size, 1_000);
  assert.equal(new Set([...sealed].map((each) => each.slice(0, 18))).size, 1_000, "each has a nonce of its own");
});

describe("a sealed secret is not opened", () => {
  test("for another owner", () => {
    fc.assert(
      fc.property(text, text, (one, other) => {
        fc.pre(one !== other);
        refusalOf(() => seal.open(seal.close(secret, one), other));
      }),
    );
  });

  test("with any character changed", () => {
    const sealed = seal.close(secret, owner);
    for (let at = 0; at < sealed.length; at += 1) {
      for (const other of ["A", "B", "_", "1", "2", "=", " ", ".", "\n", "+", "é"]) {
        if (sealed[at] === other) continue;
        refusalOf(() => seal.open(sealed.slice(0, at) + other + sealed.slice(at + 1), owner));
      }
    }
  });

  test("with any bit changed", () => {
    const bytes = Buffer.from(seal.close(secret, owner).slice(2), "base64url");
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      refusalOf(() => seal.open(`1.${changed.toString("base64url")}`, owner));
    }
  });

  test("with anything added or cut off", () => {
    const sealed = seal.close(secret, owner);
    for (const more of ["A", "AAAA", "=", "==", "\n", " ", "."]) {
      refusalOf(() => seal.open(sealed + more, owner));
      refusalOf(() => seal.open(more + sealed, owner));
    }
    refusalOf(() => seal.open(`0${sealed}`, owner));
    for (let length = 0; length < sealed.length; length += 1)
      refusalOf(() => seal.open(sealed.slice(0, length), owner));
  });

  test("with another key of the same version", () => {
    refusalOf(() => createSeal(parseEncryptionKeys(`1:${keyText()}`)).open(seal.close(secret, owner), owner));
  });
});

describe("a new version of the key", () => {
  const both = createSeal(parseEncryptionKeys(`${newKey},${oldKey}`));

  test("opens what the old one sealed, and says that it is old", () => {
    const old = seal.close(secret, owner);
    assert.equal(both.open(old, owner), secret);
    assert.deepEqual([seal.isCurrent(old), both.isCurrent(old)], [true, false]);
  });

  test("seals what is new", () => {
    const sealed = both.close(secret, owner);
    assert.ok(sealed.startsWith("2.") && both.isCurrent(sealed));
    assert.equal(createSeal(parseEncryptionKeys(newKey)).open(sealed, owner), secret);
  });

  test("doesn't replace the old one: a version that is missed is named", () => {
    const onlyNew = createSeal(parseEncryptionKeys(newKey));
    const { message } = refusalOf(() => onlyNew.open(seal.close(secret, owner), owner));
    assert.equal(message, "ENCRYPTION_KEYS lacks version 1, which a stored secret was sealed with");
  });
});

test("no error repeats the secret, what it was sealed to, or a key", () => {
  const sealed = seal.close(secret, owner);
  const both = createSeal(parseEncryptionKeys(`${newKey},3:${keyText()}`));
  for (const attempt of [
    () => seal.open(sealed, "another"),
    () => seal.open(`${sealed}A`, owner),
    () => seal.open(sealed.slice(0, 20), owner),
    () => both.open(sealed, owner),
    () => seal.open(secret, owner),
    () => seal.isCurrent(secret),
  ]) {
    const error = refusalOf(attempt);
    const said = `${error.stack}${String(error.cause)}${JSON.stringify(error)}`;
    for (const hidden of [secret, sealed.slice(2, 20), oldKey.slice(2)]) assert.ok(!said.includes(hidden), said);
  }
});
