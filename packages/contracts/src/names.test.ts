import assert from "node:assert/strict";
import { test } from "node:test";
import { hasInvisibleCharacter, namePattern } from "./names.ts";

/** What Unicode says, as the running Node knows it; a newer Unicode may have more. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
const name = new RegExp(namePattern, "u");

test("names have every letter, mark and sign of Unicode, and nothing that can't be seen", () => {
  for (let code = 0; code <= 0x10ffff; code += 1) {
    // An unpaired surrogate is refused with the whole body.
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const character = String.fromCodePoint(code);
    const isRefused = invisible.test(character) || code === 0x2800;
    assert.equal(hasInvisibleCharacter(`Quill${character}`), isRefused, code.toString(16));
    assert.equal(name.test(`Quill${character}`), !isRefused, code.toString(16));
  }
});

test("a name isn't only white space, and any length is checked in linear time", () => {
  for (const blank of ["", " ", "\u00a0\u3000", "\n"]) assert.equal(name.test(blank), false);
  for (const fine of ["Q", " Quill", "Пероﾟ", "羽根ペン", "قلم", "पंख", "Quill & Co. 🪶"])
    assert.equal(name.test(fine), true, fine);
  for (const long of [`${" ".repeat(1e6)}\u200b`, `${"a".repeat(1e6)}\u200b`, `${"a ".repeat(5e5)}\u200b`]) {
    assert.equal(name.test(long), false);
  }
});
