import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isNestedTooDeep } from "./json-depth.ts";

const depthOf = (value: unknown): number =>
  typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

test("the depth of a text equals that of the parsed value, whatever its strings contain", () => {
  const text = fc.stringMatching(/^[[\]{}"\\a]{0,8}$/);
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      text,
      fc.integer(),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(text, tie("value"), { maxKeys: 3 }),
    ),
  }));
  fc.assert(
    fc.property(value, fc.integer({ min: 0, max: 66 }), (inner, levels) => {
      const json = "[".repeat(levels) + JSON.stringify(inner) + "]".repeat(levels);
      assert.equal(isNestedTooDeep(json), depthOf(inner) + levels > 64);
    }),
    { numRuns: 1_000 },
  );
});

test("invalid JSON is left to the parser", () => {
  for (const text of ["", '"', '"\\', "]]]]", "{", "[".repeat(64), '"[', `"\\"${"[".repeat(100)}`]) {
    assert.equal(isNestedTooDeep(text), false, text.slice(0, 20));
  }
});
