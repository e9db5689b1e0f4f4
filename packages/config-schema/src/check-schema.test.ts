import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { rounds } from "@ehr-marketplace/test-kit";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { checkSchema } from "./check-schema.ts";
import { compileSchema } from "./compile-schema.ts";
import type { ConfigSchema } from "./profile.ts";

const object = (properties: object, more: object = {}): object => ({ type: "object", properties, ...more });
const property = (schema: unknown): object => object({ p: schema });
const many = <T>(count: number, each: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => each(n));
const nested = (levels: number): unknown => (levels === 0 ? { type: "string" } : object({ a: nested(levels - 1) }));
const named = (count: number): object => Object.fromEntries(many(count, (n) => [`p${n}`, { type: "string" }]));

describe("a schema within the profile has no problem", () => {
  const everything = object(
    {
      text: { type: "string", minLength: 1, maxLength: 9, pattern: "^[a-z]+$", format: "hostname", writeOnly: true },
      choice: { type: "string", enum: ["a", "b"], default: "a", title: "T", description: "D", examples: ["a"] },
      whole: { type: "integer", minimum: -1, maximum: 1.5, const: 1 },
      part: { type: "number" },
      is: { type: "boolean", writeOnly: false },
      list: {
        type: "array",
        items: { type: "string" },
        minItems: 0,
        maxItems: 100,
        uniqueItems: true,
        writeOnly: true,
      },
      free: { type: "object", additionalProperties: true },
    },
    {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      required: ["text", "elsewhere"],
      additionalProperties: false,
    },
  );
  const withEachFormat = object(
    Object.fromEntries(
      ["date", "time", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "uri", "uuid"].map((format) => [
        format,
        { type: "string", format },
      ]),
    ),
  );
  for (const [name, schema] of Object.entries({
    "every keyword": everything,
    "each format": withEachFormat,
    "only a type": { type: "object" },
    "properties 3 deep": nested(3),
    "an empty object at depth 3": object({ a: object({ b: object({ c: { type: "object" } }) }) }),
    "100 properties": object(named(100)),
    "100 properties, nested ones counted": object({ a: object(named(49)), b: object(named(49)) }),
    "exactly 32 KiB": object({}, { title: "x".repeat(32_768 - JSON.stringify(object({}, { title: "" })).length) }),
  })) {
    test(name, () => assert.deepEqual(checkSchema(schema), []));
  }
});

describe("a schema outside the profile is refused with a code, a pointer and what to do", () => {
  const pattern = (text: string): object => property({ type: "string", pattern: text });
  const refused: [name: string, schema: unknown, code: string, pointer: string][] = [
    ["a list", [], "not-an-object", ""],
    ["a boolean schema", true, "not-an-object", ""],
    ["no type", { properties: {} }, "unsupported-type", "/type"],
    ["another type at the root", { type: "array", items: { type: "string" } }, "unsupported-type", "/type"],
    ["several types", property({ type: ["string", "null"] }), "unsupported-type", "/properties/p/type"],
    ["type null", property({ type: "null" }), "unsupported-type", "/properties/p/type"],
    ["a property without a type", property({ writeOnly: true }), "unsupported-type", "/properties/p/type"],
    ["a boolean property", property(true), "not-an-object", "/properties/p"],
    [
      "an array of objects",
      property({ type: "array", items: { type: "object" } }),
      "unsupported-type",
      "/properties/p/items/type",
    ],
    [
      "an array of arrays",
      property({ type: "array", items: { type: "array" } }),
      "unsupported-type",
      "/properties/p/items/type",
    ],
    ["an array without items", property({ type: "array" }), "invalid-value", "/properties/p/items"],
    ["items of several schemas", property({ type: "array", items: [{}] }), "invalid-value", "/properties/p/items"],
    [
      "a secret item",
      property({ type: "array", items: { type: "string", writeOnly: true } }),
      "misplaced-keyword",
      "/properties/p/items/writeOnly",
    ],
    ["a secret root", { type: "object", writeOnly: true }, "misplaced-keyword", "/writeOnly"],
    [
      "$schema in a property",
      property({ type: "string", $schema: "https://json-schema.org/draft/2020-12/schema" }),
      "unsupported-keyword",
      "/properties/p/$schema",
    ],
    [
      "another dialect",
      { $schema: "http://json-schema.org/draft-07/schema#", type: "object" },
      "unsupported-dialect",
      "/$schema",
    ],
    [
      "a keyword of another type",
      property({ type: "number", minLength: 1 }),
      "misplaced-keyword",
      "/properties/p/minLength",
    ],
    [
      "unbounded unique items",
      property({ type: "array", items: { type: "string" }, uniqueItems: true }),
      "unbounded-unique-items",
      "/properties/p/uniqueItems",
    ],
    [
      "too many unique items",
      property({ type: "array", items: { type: "string" }, uniqueItems: true, maxItems: 101 }),
      "unbounded-unique-items",
      "/properties/p/uniqueItems",
    ],
    [
      "a schema for additional properties",
      { type: "object", additionalProperties: { type: "string" } },
      "invalid-value",
      "/additionalProperties",
    ],
    ["properties that are a list", { type: "object", properties: [] }, "invalid-value", "/properties"],
    ["required that is no list", { type: "object", required: true }, "invalid-value", "/required"],
    ["a negative length", property({ type: "string", minLength: -1 }), "invalid-value", "/properties/p/minLength"],
    ["a bound that is no number", property({ type: "number", minimum: "1" }), "invalid-value", "/properties/p/minimum"],
    ["an empty enum", property({ type: "string", enum: [] }), "invalid-value", "/properties/p/enum"],
    [
      "a format that isn't listed",
      property({ type: "string", format: "url" }),
      "unsupported-format",
      "/properties/p/format",
    ],
    ["a title that is no text", { type: "object", title: {} }, "invalid-value", "/title"],
    ["properties 4 deep", nested(4), "too-deep", "/properties/a/properties/a/properties/a/properties/a"],
    ["101 properties", object(named(101)), "too-many-properties", "/properties/p100"],
    [
      "101 properties, nested ones counted",
      object({ a: object(named(50)), b: object(named(50)) }),
      "too-many-properties",
      "/properties/b/properties/p48",
    ],
    ["more than 32 KiB", object({}, { title: "x".repeat(32_768) }), "too-large", ""],
    ["more than 32 KiB in other characters", object({}, { title: "€".repeat(11_000) }), "too-large", ""],
    [
      "values that nest too deep",
      { type: "object", default: JSON.parse(`${"[".repeat(64)}${"]".repeat(64)}`) as unknown },
      "too-deep",
      "",
    ],
    [
      "values that nest deeper than the stack",
      { type: "object", default: JSON.parse(`${"[".repeat(500_000)}${"]".repeat(500_000)}`) as unknown },
      "too-deep",
      "",
    ],
    ["a pattern that is none", pattern("("), "unsupported-pattern", "/properties/p/pattern"],
    ["a long pattern", pattern("a".repeat(257)), "unsupported-pattern", "/properties/p/pattern"],
    ["a pattern with look-ahead", pattern("^(?=a)"), "unsupported-pattern", "/properties/p/pattern"],
    ["a pattern with a back-reference", pattern("(a)\\1"), "unsupported-pattern", "/properties/p/pattern"],
    ["a pattern that multiplies", pattern("(?:a{1000}){1000}"), "unsupported-pattern", "/properties/p/pattern"],
  ];
  for (const keyword of [
    "$ref",
    "$dynamicRef",
    "$id",
    "$defs",
    "definitions",
    "dependencies",
    "dependentSchemas",
    "dependentRequired",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "patternProperties",
    "propertyNames",
    "unevaluatedProperties",
    "prefixItems",
    "contains",
    "multipleOf",
    "exclusiveMinimum",
    "readOnly",
    "$async",
    "nullable",
    "x-widget",
    "__proto__",
  ]) {
    const root: unknown = JSON.parse(`{"type":"object",${JSON.stringify(keyword)}:{}}`);
    refused.push([keyword, root, "unsupported-keyword", `/${keyword}`]);
  }
  for (const [name, schema, code, pointer] of refused) {
    test(name, () => {
      const problems = checkSchema(schema);
      const [first] = problems;
      assert.deepEqual([first?.code, first?.pointer], [code, pointer], JSON.stringify(problems));
      assert.match(first?.detail ?? "", /^[A-Z`"].*\.$/s);
    });
  }
});

test("returns all problems at once, each with its pointer", () => {
  const schema = object(
    { a: { type: "text" }, "b/~": { type: "string", format: "url", pattern: "(", minLength: -1 } },
    { allOf: [], required: 1 },
  );
  assert.deepEqual(
    checkSchema(schema).map(({ pointer, code }) => `${pointer} ${code}`),
    [
      "/allOf unsupported-keyword",
      "/required invalid-value",
      "/properties/a/type unsupported-type",
      "/properties/b~1~0/format unsupported-format",
      "/properties/b~1~0/pattern unsupported-pattern",
      "/properties/b~1~0/minLength invalid-value",
    ],
  );
});

test("details contain no control characters and no unpaired surrogates", () => {
  for (const pattern of ["(\0", "(\ud800", "\0(?=\n)", "(\0)\\1", "\\u0000\0\ud800"]) {
    const [problem] = checkSchema(property({ type: "string", pattern }));
    assert.equal(problem?.code, "unsupported-pattern");
    assert.match(problem.detail, /^\P{Cc}+$/u);
    assert.ok(problem.detail.isWellFormed());
  }
});

test("checks any JSON, and accepts only valid JSON Schema 2020-12", () => {
  const words = fc.constantFrom(
    "type",
    "properties",
    "items",
    "required",
    "enum",
    "const",
    "default",
    "pattern",
    "format",
    "writeOnly",
    "minLength",
    "maxItems",
    "uniqueItems",
    "additionalProperties",
    "title",
    "$schema",
    "$ref",
    "x",
  );
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 6 },
      fc.constantFrom<unknown>("object", "string", "array", "integer", "a", "(", true, false, null, 0, 1, -1, 1.5),
      fc.constantFrom<unknown>({ type: "string" }, { type: "array", items: { type: "string" } }, ["x"]),
      fc.dictionary(words, tie("value"), { maxKeys: 5 }),
      fc.array(tie("value"), { maxLength: 3 }),
    ),
  }));
  const ajv = new Ajv2020({ strict: false, logger: false });
  let accepted = 0;
  fc.assert(
    fc.property(
      fc.oneof(
        value,
        fc.dictionary(words, value).map((more) => ({ ...more, type: "object" })),
      ),
      (schema) => {
        if (checkSchema(schema).length > 0) return;
        accepted += 1;
        assert.equal(ajv.validateSchema(schema as object), true, JSON.stringify(ajv.errors));
        compileSchema(schema as ConfigSchema)({});
      },
    ),
    { numRuns: rounds(2_000, 10_000) },
  );
  assert.ok(accepted > 20, `${accepted} were accepted`);
});
