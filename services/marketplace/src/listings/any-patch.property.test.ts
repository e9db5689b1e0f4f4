import assert from "node:assert/strict";
import { test } from "node:test";
import { rounds } from "@ehr-marketplace/test-kit";
import fc from "fast-check";
import { mergePatch } from "./merge-patch.ts";

type Members = Record<string, unknown>;
const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const { json } = fc.letrec<{ json: unknown; object: Members }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom<unknown>(null, true, 0, "", [], {}, [null], { a: null }),
    fc.string({ maxLength: 4 }),
    fc.array(tie("json"), { maxLength: 3 }),
    tie("object"),
  ),
  object: fc
    .array(
      fc.tuple(fc.constantFrom("a", "b", "0", "", "__proto__", "constructor", "toString", "length"), tie("json")),
      {
        maxLength: 5,
      },
    )
    // As a parser makes it: with `__proto__` as a member like any other.
    .map((members) => Object.fromEntries(members)),
}));

/** What RFC 7396 says of each member, without merging. */
function assertMerged(merged: unknown, target: unknown, patch: unknown): void {
  if (!isObject(patch)) return assert.deepEqual(merged, patch);
  assert.ok(isObject(merged));
  assert.equal(Object.getPrototypeOf(merged), Object.prototype);
  const before = isObject(target) ? target : {};
  const has = (object: Members, name: string): boolean => Object.hasOwn(object, name);
  const own = (object: Members, name: string): unknown =>
    has(object, name) ? Object.getOwnPropertyDescriptor(object, name)?.value : undefined;
  for (const name of new Set([before, patch, merged].flatMap(Object.keys))) {
    if (!has(patch, name)) assert.deepEqual(own(merged, name), own(before, name), name);
    else if (own(patch, name) === null) assert.ok(!has(merged, name), name);
    else assertMerged(own(merged, name), own(before, name), own(patch, name));
  }
}

test("any patch changes what it names and nothing else, and once more nothing", () => {
  fc.assert(
    fc.property(json, json, (target, patch) => {
      const [asItWas, asSent] = [JSON.stringify(target), JSON.stringify(patch)];
      const merged = mergePatch(target, patch);
      assertMerged(merged, target, patch);
      assert.deepEqual(mergePatch(merged, patch), merged);
      assert.deepEqual([JSON.stringify(target), JSON.stringify(patch)], [asItWas, asSent], "neither is changed");
      // Nothing has reached what all objects share.
      assert.deepEqual(Object.keys(Object.prototype), []);
    }),
    { numRuns: rounds(300, 10_000) },
  );
});
