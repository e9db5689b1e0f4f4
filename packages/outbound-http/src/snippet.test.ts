import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { buildSnippet } from "./response.ts";

const of = (text: string): string => buildSnippet(Buffer.from(text));

test("text stays as it is, in any language", () => {
  for (const text of ["", "ok", '{"received": true}', "a\tb\nc", "größer ärztlich 医者 🩺", "<script>"]) {
    assert.equal(of(text), text);
  }
  assert.equal(of("one\r\ntwo"), "one\ntwo");
});

test("replaces control and format characters", () => {
  for (const character of ["\0", "\u001b", "\b", "\r", "\u007f", "\u009b", "\u202e", "\u2066", "\u200b", "\u2028"]) {
    assert.equal(of(`a${character}b`), "a\ufffdb", JSON.stringify(character));
  }
  assert.equal(of("\u001b[31mred\u001b]0;title\u0007"), "\ufffd[31mred\ufffd]0;title\ufffd");
});

test("bytes that are no UTF-8 are replaced", () => {
  assert.equal(buildSnippet(Buffer.from([0x61, 0xff, 0x62])), "a\ufffdb");
  assert.equal(buildSnippet(Buffer.from([0x61, 0xe2, 0x82])), "a\ufffd", "a character without its end");
  assert.equal(buildSnippet(Buffer.from([0xed, 0xa0, 0x80])).includes("\ud800"), false, "half of a surrogate pair");
});

test("4 KiB are kept, and no character is cut in two", () => {
  assert.equal(of("x".repeat(4_096)).length, 4_096);
  assert.equal(of("x".repeat(4_097)).length, 4_096);
  assert.equal(of(`${"x".repeat(4_095)}€`), "x".repeat(4_095));
  assert.equal(of(`${"x".repeat(4_094)}🩺`), "x".repeat(4_094));
  assert.equal(of(`${"x".repeat(4_093)}€uro`), `${"x".repeat(4_093)}€`);
});

test("no body makes more than 4 KiB of harmless text", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 10_000, size: "max" }), (bytes) => {
      const snippet = buildSnippet(Buffer.from(bytes));
      assert.ok(Buffer.byteLength(snippet) <= 4_096);
      assert.doesNotMatch(snippet, /(?![\t\n])\p{Cc}/u);
      assert.ok(snippet.isWellFormed());
    }),
  );
});
