import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { withoutSecrets } from "../installations/config-values.ts";
import { inspectSchema } from "./inspect-schema.ts";

const secret = { type: "string", writeOnly: true };
/** What is shown of a configuration under this schema. */
const shown = (schema: object, config: Record<string, unknown>): unknown => {
  const { problem, secrets } = inspectSchema(schema);
  assert.equal(problem, null);
  return withoutSecrets(secrets, config);
};

describe("what a schema marks writeOnly is found", () => {
  test("nowhere, where there is none: then nothing needs to be kept of the schema", () => {
    assert.equal(inspectSchema({ properties: { a: { writeOnly: false }, b: true } }).secrets, null);
    assert.equal(inspectSchema(null).secrets, null);
  });

  for (const [where, schema, config, expected] of [
    ["in a property", { properties: { a: secret } }, { a: "x", b: "y" }, { a: null, b: "y" }],
    [
      "of a property's property",
      { properties: { a: { properties: { b: secret } } } },
      { a: { b: 1, c: 2 }, b: 3 },
      { a: { b: null, c: 2 }, b: 3 },
    ],
    [
      "for a whole object",
      { properties: { a: { writeOnly: true, properties: { b: {} } } } },
      { a: { b: 1 } },
      { a: null },
    ],
    ["for all there is", { writeOnly: true }, { a: 1, b: { c: 2 } }, { a: null, b: null }],
    [
      "in the items of a list",
      { properties: { a: { items: { properties: { pin: secret } } } } },
      { a: [{ pin: 1, x: 2 }, 3] },
      { a: [{ pin: null, x: 2 }, 3] },
    ],
    [
      "in one place of a list",
      { properties: { a: { prefixItems: [{}, secret] } } },
      { a: [1, 2] },
      { a: [null, null] },
    ],
    [
      "behind a reference",
      { $defs: { key: secret }, properties: { a: { $ref: "#/$defs/key" } } },
      { a: 1 },
      { a: null },
    ],
    [
      "behind a reference of a reference",
      { $defs: { x: { $ref: "#/$defs/y" }, y: secret }, properties: { a: { $ref: "#/$defs/x" } } },
      { a: 1 },
      { a: null },
    ],
    [
      "behind an escaped pointer",
      { "o/d~d %": { x: secret }, properties: { a: { $ref: "#/o~1d~0d%20%25/x" } } },
      { a: 1 },
      { a: null },
    ],
    [
      "behind an anchor",
      { $defs: { x: { $anchor: "key", ...secret } }, properties: { a: { $ref: "#key" } } },
      { a: 1 },
      { a: null },
    ],
    [
      "behind an $id",
      {
        $id: "https://v.example/root",
        $defs: { x: { $id: "key", ...secret } },
        properties: { a: { $ref: "https://v.example/key" }, b: { $ref: "key" } },
      },
      { a: 1, b: 2 },
      { a: null, b: null },
    ],
    [
      "behind a pointer within an $id",
      {
        $defs: { x: { $id: "https://v.example/x", $defs: { y: secret } } },
        properties: { a: { $ref: "https://v.example/x#/$defs/y" } },
      },
      { a: 1 },
      { a: null },
    ],
    [
      "behind a dynamic reference",
      { $defs: { x: { $dynamicAnchor: "key", ...secret } }, properties: { a: { $dynamicRef: "#key" } } },
      { a: 1 },
      { a: null },
    ],
    [
      "in any branch",
      { anyOf: [{ properties: { a: secret } }, { properties: { b: secret } }] },
      { a: 1, b: 2, c: 3 },
      { a: null, b: null, c: 3 },
    ],
    [
      "in then and else",
      JSON.parse(
        '{"if":{},"then":{"properties":{"a":{"writeOnly":true}}},"else":{"properties":{"b":{"writeOnly":true}}}}',
      ),
      { a: 1, b: 2 },
      { a: null, b: null },
    ],
    [
      "of dependent schemas",
      { dependentSchemas: { x: { properties: { a: secret } } } },
      { x: 1, a: 2 },
      { x: 1, a: null },
    ],
    [
      "beside a reference",
      { $defs: { t: { type: "string" } }, properties: { a: { $ref: "#/$defs/t", writeOnly: true } } },
      { a: 1 },
      { a: null },
    ],
    [
      "for names that are not listed",
      { properties: { a: {} }, additionalProperties: secret },
      { a: 1, b: 2 },
      { a: 1, b: null },
    ],
    [
      "for names by a pattern, without trying it",
      { patternProperties: { "^(s+)+$": secret } },
      { sss: 1, t: 2 },
      { sss: null, t: null },
    ],
    ["for names that others would be evaluated by", { unevaluatedProperties: secret }, { a: 1 }, { a: null }],
    [
      "without end",
      { $ref: "#/$defs/n", $defs: { n: { properties: { pin: secret, next: { $ref: "#/$defs/n" } } } } },
      { pin: 1, next: { pin: 2, next: { pin: 3, x: 4 } } },
      { pin: null, next: { pin: null, next: { pin: null, x: 4 } } },
    ],
    [
      "under names that objects have anyway",
      { properties: JSON.parse('{"constructor":{"writeOnly":true},"toString":{"writeOnly":true}}') },
      { constructor: 1, toString: 2, valueOf: 3 },
      { constructor: null, toString: null, valueOf: 3 },
    ],
  ] as [string, object, Record<string, unknown>, unknown][]) {
    test(where, () => {
      assert.deepEqual(shown(schema, config), expected);
    });
  }

  test("not in what is only said about values: an example, a default, an enum, what must not be", () => {
    const marks = { a: { writeOnly: true } };
    const schema = { properties: { a: { default: marks, examples: [marks], enum: [marks], not: secret } } };
    assert.equal(inspectSchema(schema).secrets, null);
  });

  test("of a large schema only what leads to a secret is kept", () => {
    const properties = Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`p${n}`, { type: "string" }]));
    const { secrets } = inspectSchema({ properties: { ...properties, key: secret } });
    assert.deepEqual(secrets, [{ names: [["key", 1]] }, { secret: true }]);
  });

  test("where there are too many, nothing at all is shown", () => {
    const properties = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`p${n}`, { ...secret }]));
    assert.equal(inspectSchema({ properties }).secrets, "all");
    assert.deepEqual(shown({ properties }, { p1: 1, other: 2 }), { p1: null, other: null });
  });
});

describe("a schema that can't be used is told at a glance, and nothing of a configuration is then shown", () => {
  for (const [what, schema, problem] of [
    ["a reference elsewhere", { $ref: "https://elsewhere.example/s.json" }, /"https:\/\/elsewhere\.example\/s\.json"/],
    ["a reference to nothing", { properties: { a: { $ref: "#/nothing" } } }, /"#\/nothing"/],
    ["a reference to what is no schema", { title: "x", properties: { a: { $ref: "#/title" } } }, /"#\/title"/],
    ["a reference that is none", { $ref: "http://[" }, /"http:\/\/\["/],
    ["a reference with a broken escape", { $ref: "#/%E0%A4%A" }, /"#\/%E0%A4%A"/],
    ["a reference with a NUL", { $ref: "x\0y" }, /^[^\0]*$/],
    ["a prototype for a definition", { $ref: "#/constructor" }, /constructor/],
    ["a list", [], /no JSON object/],
    ["true", true, /no JSON object/],
    ["more than 256 KiB", { title: "x".repeat(262_144) }, /more than 256 KiB/],
    ["one that nests without end", JSON.parse(`${'{"not":'.repeat(30_000)}{}${"}".repeat(30_000)}`), /nests too deep/],
  ] as [string, unknown, RegExp][]) {
    test(what, () => {
      const inspected = inspectSchema(schema);
      assert.match(inspected.problem ?? "", problem);
      assert.equal(inspected.text, null);
      assert.equal(inspected.secrets, "all");
    });
  }

  test("and the worst of them takes no time that anybody notices", () => {
    const many = (count: number, each: (n: number) => object): object[] =>
      Array.from({ length: count }, (_, n) => each(n));
    for (const schema of [
      {
        $defs: Object.assign({}, ...many(4_000, (n) => ({ [`d${n}`]: { $dynamicAnchor: "a", $dynamicRef: "#a" } }))),
        $dynamicRef: "#a",
      },
      { allOf: many(5_000, (n) => ({ $id: `https://v.example/${n}`, $ref: `https://v.example/${(n * 7) % 5_000}` })) },
      { allOf: many(8_000, () => ({ $ref: "#", writeOnly: true })) },
      { properties: Object.assign({}, ...many(9_000, (n) => ({ [n]: { $ref: "#/properties/0" } }))) },
    ]) {
      const began = performance.now();
      inspectSchema(schema);
      assert.ok(performance.now() - began < 1_000, JSON.stringify(schema).slice(0, 60));
    }
  });
});
