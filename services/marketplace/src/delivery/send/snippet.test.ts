import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { snippetOf } from "./snippet.ts";

const of = (text: string): string => snippetOf(Buffer.from(text));

test("keeps text in any language as it is", () => {
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

test("replaces bytes that are not UTF-8", () => {
  assert.equal(snippetOf(Buffer.from([0x61, 0xff, 0x62])), "a\ufffdb");
  assert.equal(snippetOf(Buffer.from([0x61, 0xe2, 0x82])), "a\ufffd", "a character without its end");
  assert.equal(snippetOf(Buffer.from([0xed, 0xa0, 0x80])).includes("\ud800"), false, "half of a surrogate pair");
});

test("keeps 4 KiB of whole characters", () => {
  assert.equal(of("x".repeat(4_096)).length, 4_096);
  assert.equal(of("x".repeat(4_097)).length, 4_096);
  assert.equal(of(`${"x".repeat(4_095)}€`), "x".repeat(4_095));
  assert.equal(of(`${"x".repeat(4_094)}🩺`), "x".repeat(4_094));
  assert.equal(of(`${"x".repeat(4_093)}€uro`), `${"x".repeat(4_093)}€`);
});

test("returns at most 4 KiB of sanitised text for any body", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 10_000, size: "max" }), (bytes) => {
      const snippet = snippetOf(Buffer.from(bytes));
      assert.ok(Buffer.byteLength(snippet) <= 4_096);
      assert.doesNotMatch(snippet, /(?![\t\n])\p{Cc}/u);
      assert.ok(snippet.isWellFormed());
    }),
  );
});
