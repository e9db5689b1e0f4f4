import assert from "node:assert/strict";
import { test } from "node:test";
import { rounds } from "@ehr-marketplace/test-kit";
import fc from "fast-check";
import { decodeCursor, encodeCursor } from "./cursor.ts";
import { Problem } from "./problem.ts";

const runs = { numRuns: rounds(1_000, 10_000) };
const part = fc.string({ unit: "binary" }).filter((text) => !text.includes("\0"));

function assertRefused(cursor: string, parts: number): void {
  assert.throws(
    () => decodeCursor(cursor, parts),
    (error) => {
      assert.ok(error instanceof Problem, String(error));
      assert.equal(error.kind.status, 400);
      assert.deepEqual(error.errors, [{ pointer: "/query/after", detail: "is not a `next` cursor of this list" }]);
      return true;
    },
  );
}

test("a cursor decodes to its parts, and needs no escaping in a URL", () => {
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      const cursor = encodeCursor(...parts);
      assert.match(cursor, /^[\w-]+$/);
      assert.deepEqual(decodeCursor(cursor, parts.length), parts);
    }),
    runs,
  );
});

test("a truncated cursor is 400", () => {
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 3 }), fc.nat(), (parts, cut) => {
      const cursor = encodeCursor(...parts);
      assertRefused(cursor.slice(0, cut % cursor.length), parts.length);
    }),
    runs,
  );
});

test("a cursor of another list, with more or fewer parts, is 400", () => {
  assertRefused(encodeCursor("a"), 2);
  assertRefused(encodeCursor("a", "b"), 1);
  assertRefused(encodeCursor(), 1);
});

const encoded = (text: string): string => Buffer.from(text).toString("base64url");
for (const [what, cursor] of [
  ["nothing", ""],
  ["a word", "first"],
  ["no Base64", "!!!"],
  ["no JSON", encoded("[")],
  ["another JSON value", encoded('"a"')],
  ["null", encoded("null")],
  ["an object with a length", encoded('{"length":1,"0":"a"}')],
  ["a number", encoded("[1]")],
  ["a nested list", encoded('[["a"]]')],
  ["NUL, which the database would choke on", encoded('["a\\u0000b"]')],
  ["half of a surrogate pair", encoded('["a\\ud800b"]')],
  ["a deep nest", encoded("[".repeat(6_000))],
  ["bytes that are no text", Buffer.from([0xff, 0xfe, 0x00]).toString("base64url")],
] as const) {
  test(`a cursor that is ${what} is 400`, () => assertRefused(cursor, 1));
}

test("any text is a 400 or decodes to the right number of valid parts", () => {
  const json = fc.json({ maxDepth: 2 }).map(encoded);
  const texts = fc
    .array(fc.string({ unit: "binary" }), { maxLength: 3 })
    .map((parts) => encoded(JSON.stringify(parts)));
  const changed = fc
    .tuple(fc.array(part, { maxLength: 3 }), fc.nat(), fc.string({ maxLength: 2 }))
    .map(([parts, at, other]) => {
      const cursor = encodeCursor(...parts);
      return cursor.slice(0, at % cursor.length) + other + cursor.slice((at % cursor.length) + 1);
    });
  const any = fc.oneof(fc.string({ unit: "binary" }), json, texts, changed);
  const counts = { read: 0, refused: 0 };
  fc.assert(
    fc.property(any, fc.nat({ max: 3 }), (cursor, parts) => {
      let read: string[];
      try {
        read = decodeCursor(cursor, parts);
      } catch {
        counts.refused += 1;
        return assertRefused(cursor, parts);
      }
      counts.read += 1;
      assert.equal(read.length, parts);
      for (const each of read) assert.ok(typeof each === "string" && !each.includes("\0"));
      assert.deepEqual(decodeCursor(encodeCursor(...read), parts), read);
    }),
    runs,
  );
  assert.ok(counts.read > 30 && counts.refused > 30, JSON.stringify(counts));
});
