import assert from "node:assert/strict";
import { test } from "node:test";
import { rounds } from "@ehr-marketplace/test-kit";
import { schemaAndConfig } from "@ehr-marketplace/test-kit/config-schemas";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import fc from "fast-check";
import { checkSchema } from "./check-schema.ts";
import { compileSchema } from "./compile-schema.ts";
import type { ConfigSchema } from "./profile.ts";

const problemsOf = (properties: Record<string, ConfigSchema>, config: unknown, more: object = {}): string[] => {
  const schema: ConfigSchema = { type: "object", properties, ...more };
  assert.deepEqual(checkSchema(schema), []);
  return compileSchema(schema)(config).map(({ pointer, code }) => `${pointer} ${code}`);
};

test("returns every problem of a configuration with pointer and keyword, without values", () => {
  const schema: ConfigSchema = {
    type: "object",
    properties: {
      language: { type: "string", enum: ["en", "es"] },
      key: { type: "string", minLength: 8, writeOnly: true },
      mail: { type: "object", properties: { host: { type: "string", format: "hostname" } }, required: ["password"] },
      list: { type: "array", items: { type: "integer", maximum: 2 }, uniqueItems: true, maxItems: 3 },
    },
    required: ["language", "missing"],
    additionalProperties: false,
  };
  const config = { language: "de", key: "short", mail: { host: "?" }, list: [1, 1, 3, "x"], "od/d~": 1 };
  const problems = compileSchema(schema)(config);
  assert.deepEqual(
    problems.map(({ pointer, detail }) => `${pointer} ${detail}`),
    [
      "/missing is required",
      "/language must be one of: en, es",
      "/key must have at least 8 characters",
      "/mail/password is required",
      "/mail/host must have the format hostname",
      "/list must have at most 3 items",
      "/list must not repeat an item",
      "/list/2 must be at most 2",
      "/list/3 must be of type integer",
      "/od~1d~0 is not a known setting of this app",
    ],
  );
  assert.doesNotMatch(JSON.stringify(problems), /short|"de"/);
});

test("an error names up to twenty of the values that the schema allows, each shortened", () => {
  const detailOf = (schema: ConfigSchema): string | undefined =>
    compileSchema({ type: "object", properties: { a: schema } })({ a: 0.5 })[0]?.detail;
  const numbers = Array.from({ length: 21 }, (_, nth) => nth);
  assert.equal(detailOf({ type: "number", enum: numbers.slice(1) }), `must be one of: ${numbers.slice(1).join(", ")}`);
  assert.equal(detailOf({ type: "number", enum: numbers }), `must be one of: ${numbers.slice(0, 20).join(", ")}, …`);
  assert.equal(detailOf({ type: "number", enum: [7] }), "must be 7");
  assert.equal(detailOf({ type: "number", const: 7 }), "must be 7");
  const long = "x".repeat(61);
  const problems = compileSchema({ type: "object", properties: { a: { type: "string", enum: [long, "y"] } } })({
    a: "z",
  });
  assert.equal(problems[0]?.detail, `must be one of: ${long.slice(1)}…, y`);
});

test("without a schema any object is accepted, and nothing else is", () => {
  const validate = compileSchema(null);
  assert.deepEqual(validate({ a: [{ b: null }], "": 1 }), []);
  for (const other of [[], null, 1, "text"]) assert.equal(validate(other)[0]?.code, "type");
});

test("a configuration nests at most 64 deep, with a schema and without", () => {
  const nested = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`) as unknown;
  for (const schema of [null, { type: "object", properties: { a: { type: "object", const: {} } } } as ConfigSchema]) {
    const codes = (levels: number) => compileSchema(schema)(nested(levels)).map(({ code }) => code);
    assert.ok(!codes(64).includes("depth"));
    assert.deepEqual([codes(65), codes(30_000)], [["depth"], ["depth"]]);
  }
});

test("own properties count, inherited ones don't, whatever their names", () => {
  const odd = { toString: { type: "string" }, ["__proto__"]: { type: "string" } } as Record<string, ConfigSchema>;
  assert.deepEqual(problemsOf(odd, {}, { required: ["toString"] }), ["/toString required"]);
  const config: unknown = JSON.parse('{"__proto__":1,"toString":"x"}');
  assert.deepEqual(problemsOf(odd, config, { additionalProperties: false }), ["/__proto__ type"]);
});

test("compares values regardless of the order of properties", () => {
  const choice = { type: "object", enum: [{ a: 1, b: [0, { c: null }] }] } as ConfigSchema;
  assert.deepEqual(problemsOf({ choice }, { choice: { b: [-0, { c: null }], a: 1 } }), []);
  assert.deepEqual(problemsOf({ choice }, { choice: { b: [{ c: null }, 0], a: 1 } }), ["/choice enum"]);
});

test("returns at most 20 problems", () => {
  const list: ConfigSchema = { type: "array", items: { type: "string" } };
  assert.equal(problemsOf({ list }, { list: Array.from({ length: 1_000 }, (_, n) => n) }).length, 20);
});

test("refuses texts that would take too many pattern steps, and accepts realistic ones", () => {
  const key: ConfigSchema = { type: "string", pattern: "^[A-Za-z0-9+/]{16,200}={0,2}$" };
  const keys = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`k${n}`, key]));
  const config = (length: number) => Object.fromEntries(Object.keys(keys).map((name) => [name, "a".repeat(length)]));
  assert.deepEqual(problemsOf(keys, config(200)), []);
  const [first] = compileSchema({ type: "object", properties: { key } })({ key: "a".repeat(60_000) });
  assert.deepEqual([first?.code, first?.detail], ["pattern", "is too long to match against its pattern"]);
  const words: ConfigSchema = { type: "string", pattern: "^[\\w .-]+$" };
  assert.deepEqual(problemsOf({ words }, { words: "a b".repeat(20_000) }), []);
});

test("a configuration is valid exactly where Ajv with ECMAScript's regular expressions says so", () => {
  const counts = { valid: 0, invalid: 0 };
  const ajv = new Ajv2020({ allErrors: true, ownProperties: true, logger: false });
  addFormats.default(ajv);
  fc.assert(
    fc.property(schemaAndConfig, ({ schema, config }) => {
      assert.deepEqual(checkSchema(schema), []);
      const validate = ajv.compile(schema);
      const expected = validate(config);
      ajv.removeSchema(schema);
      assert.equal(compileSchema(schema)(config).length === 0, expected, JSON.stringify(validate.errors));
      counts[expected ? "valid" : "invalid"] += 1;
    }),
    { numRuns: rounds(500, 10_000) },
  );
  assert.ok(counts.valid > 30 && counts.invalid > 30, JSON.stringify(counts));
});
