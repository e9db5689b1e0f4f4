import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { findSyntaxError } from "./json-syntax-error.ts";

for (const [text, line, column] of [
  ["{", 1, 2],
  ['{"a":1,}', 1, 8],
  ["{'a':1}", 1, 2],
  ['{\n  "a": 1\n  "b": 2\n}', 3, 3],
  ['{\r\n  "a": [1, 2,, 3]\r\n}', 2, 14],
  ['{"a":1}{"b":2}', 1, 8],
  ['{"a": tru}', 1, 7],
  ['{"a": 01}', 1, 8],
  ['{"a": "unterminated}', 1, 7],
  ['{"a": "\\x"}', 1, 7],
  ['{"a" 1}', 1, 6],
  ["  ", 1, 3],
] as const) {
  test(`the first invalid token of ${JSON.stringify(text)} is at line ${line}, column ${column}`, () => {
    assert.deepEqual(findSyntaxError(text), { line, column });
  });
}

test("finds an error exactly in what JSON.parse refuses", () => {
  const isParsed = (text: string): boolean => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };
  const edit = fc.tuple(fc.nat(), fc.constantFrom("", ...Array.from('{}[]",:0-.eE+\\u \n\ttrue')));
  fc.assert(
    fc.property(fc.json(), fc.array(edit, { maxLength: 3 }), (json, edits) => {
      let text = json;
      for (const [at, inserted] of edits) {
        const index = at % (text.length + 1);
        text = text.slice(0, index) + inserted + text.slice(index + (inserted === "" ? 1 : 0));
      }
      assert.equal(findSyntaxError(text) === undefined, isParsed(text), text);
    }),
    { numRuns: 2_000 },
  );
});

test("finds the start of an unterminated string of a million characters", () => {
  assert.deepEqual(findSyntaxError(`["${"x".repeat(1_000_000)}`), { line: 1, column: 2 });
});
