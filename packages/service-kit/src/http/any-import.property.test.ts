import assert from "node:assert/strict";
import { test } from "node:test";
import type { ImportResult } from "@ehr-marketplace/contracts";
import { rounds } from "@ehr-marketplace/test-kit";
import fc from "fast-check";
import { Type } from "typebox";
import { decodeUtf8 } from "./decode-utf8.ts";
import { importLines, type LineImport } from "./import-lines.ts";
import { createLineValidator } from "./parse-line.ts";
import { Problem } from "./problem.ts";

interface Imported {
  alias: string;
  name?: string;
}
const schema = Type.Object(
  { alias: Type.String({ pattern: "^[a-z]{1,3}$" }), name: Type.Optional(Type.String({ maxLength: 5 })) },
  { additionalProperties: false },
);
const validateLine = createLineValidator(schema);

const values = fc.oneof(
  fc.record(
    {
      alias: fc.oneof(fc.constantFrom("a", "b", "c", "toolong", "__proto__"), fc.string()),
      name: fc.string({ maxLength: 7 }),
    },
    { requiredKeys: [] },
  ),
  fc.record({ alias: fc.stringMatching(/^[a-z]{1,3}$/) }),
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(JSON.parse('{"alias":"a","__proto__":{"name":"x"}}') as unknown, { alias: "a", name: null }),
);
const line = fc.oneof(
  { weight: 4, arbitrary: values.map((value) => Buffer.from(JSON.stringify(value))) },
  // Cut off, or with something after it.
  fc.tuple(values, fc.nat(30)).map(([value, length]) => Buffer.from(JSON.stringify(value)).subarray(0, length)),
  values.map((value) => Buffer.from(`\ufeff ${JSON.stringify(value)} \r`)),
  values.map((value) => Buffer.from(`${JSON.stringify(value)}${JSON.stringify(value)}`)),
  fc
    .constantFrom(
      "",
      " ",
      "\r",
      "\u2028",
      "[".repeat(200),
      `"${"a".repeat(70_000)}"`,
      '{"alias":"a","alias":"b"}',
      '{"alias":"\\ud800"}',
    )
    .map((text) => Buffer.from(text)),
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes)) },
);
const bodies = fc
  .array(line, { maxLength: 12 })
  .map((lines) => Buffer.concat(lines.flatMap((each) => [each, Buffer.from("\n")])));

test("any body is refused as a whole, or has one result for each line, and only valid lines are stored", async () => {
  await fc.assert(
    fc.asyncProperty(bodies, async (body) => {
      const stored: Imported[] = [];
      const lineImport: LineImport<Imported> = {
        keyField: "alias",
        validate: validateLine,
        store: async (accepted) => {
          stored.push(...accepted);
          return accepted.map(() => ({ status: "created" }));
        },
      };
      let results: ImportResult[];
      try {
        const text = await importLines(lineImport, decodeUtf8(body));
        results = text.split("\n").flatMap((each) => (each === "" ? [] : [JSON.parse(each) as ImportResult]));
      } catch (error) {
        assert.ok(error instanceof Problem && [400, 413].includes(error.kind.status), String(error));
        assert.deepEqual(stored, []);
        return;
      }
      const lines = body.toString().split("\n");
      const expected = lines.flatMap((each, index) => (each.trim() === "" ? [] : [index + 1]));
      assert.deepEqual(
        results.map((result) => result.line),
        expected,
      );
      const accepted = results.filter(({ status }) => status !== "refused");
      assert.equal(accepted.length, stored.length);
      for (const [index, { line: nth }] of accepted.entries()) {
        const sent = JSON.parse((lines[nth - 1] ?? "").replace(/^\ufeff/, "")) as Imported & { name?: string | null };
        assert.match(sent.alias, /^[a-z]{1,3}$/);
        assert.deepEqual(stored[index], sent.name === null ? { alias: sent.alias } : sent);
      }
      assert.equal(new Set(stored.map(({ alias }) => alias)).size, stored.length, "each key once");
      for (const { status, problem } of results) assert.equal(status === "refused", problem !== undefined);
    }),
    { numRuns: rounds(200, 10_000) },
  );
});
