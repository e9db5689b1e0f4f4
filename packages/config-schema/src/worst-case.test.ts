import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertCpuTime } from "@ehr-marketplace/test-kit/cpu-time";
import { checkSchema } from "./check-schema.ts";
import { compileSchema } from "./compile-schema.ts";
import { compilePattern, maxPatternLength } from "./pattern.ts";
import { type ConfigSchema, formats, maxTotalPositions } from "./profile.ts";
import { findSecrets, keepSecrets, redact } from "./secrets.ts";

const maxMs = 100;
const maxConfigBytes = 65_536;
const maxSchemaBytes = 32_768;

const many = <T>(count: number, each: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => each(n));
const object = (properties: Record<string, unknown>): ConfigSchema =>
  ({ type: "object", properties, additionalProperties: false }) as unknown as ConfigSchema;
const properties = (count: number, each: (n: number) => unknown): ConfigSchema =>
  object(Object.fromEntries(many(count, (n) => [`p${n}`, each(n)])));
/** As many items as fit into one configuration. */
const list = (item: unknown): unknown[] =>
  many(Math.floor((maxConfigBytes - 20) / (JSON.stringify(item).length + 1)), () => item);
const mixed = (length: number, alphabet: string): string =>
  many(length, (n) => alphabet[(n * 7 + ((n * n) >> 3)) % alphabet.length]).join("");

/** RE2 tries many positions of each of these at every character. */
const expensive: [pattern: string, alphabet: string][] = [
  ["[ab]*a[ab]{240}[cd]", "ab"],
  ["[ab]*a[ab]{20}[cd]", "ab"],
  ["^(?:[ab]{0,240}a)*[cd]", "ab"],
  ["(?:.?){80}[cd]", "ab"],
  ["(?:\\p{L}?\\p{N}?){39}[cd]", "éβ1"],
  ["(?:[\\s\\p{L}]?\\S?){40}\\x00", "éβ1 "],
  ["(?:a*b*){45}[cd]", "ab"],
  ["(?:(?:(?:a|)|)|){30}[cd]", "ab"],
  ["((((a|b)*)*)*)*[cd]", "ab"],
  ["(?:^a*|b*$|\\ba?){20}[cd]", "ab "],
  ["^(?:(?:a|b)+)+$", "ab!"],
  ["x", "ab"],
];

describe("validates any configuration of 64 KiB in bounded time", () => {
  const cases: [name: string, schema: ConfigSchema, config: Record<string, unknown>][] = [];
  for (const [pattern, alphabet] of expensive) {
    const patterned = { type: "string", pattern };
    for (const length of [200, 2_000, 20_000, 60_000]) {
      const schema = properties(
        Math.min(Math.floor(60_000 / length), Math.floor(3_000 / compilePattern(pattern).positions), 100),
        () => patterned,
      );
      const text = mixed(length, alphabet);
      const config = Object.fromEntries(Object.keys(schema.properties ?? {}).map((name) => [name, text]));
      cases.push([`${pattern} on texts of ${length}`, schema, config]);
    }
    cases.push([`${pattern} on many items`, object({ p: { type: "array", items: patterned } }), { p: list("ab") }]);
    cases.push([`${pattern} on empty items`, object({ p: { type: "array", items: patterned } }), { p: list("") }]);
  }
  const hostileTexts = [
    "a".repeat(60_000),
    `a@${"a.".repeat(30_000)}!`,
    `P${"1".repeat(60_000)}`,
    `a://${"a:@/".repeat(15_000)}^`,
    `2026-02-28T10:00:00.${"0".repeat(60_000)}`,
    `a@${"-".repeat(60_000)}`,
    "t ".repeat(30_000),
    "1:".repeat(30_000),
    `a://[${":".repeat(60_000)}`,
    `a:${"%41".repeat(20_000)}%`,
  ];
  for (const format of formats.keys()) {
    for (const text of hostileTexts) {
      cases.push([`format ${format} on ${text.slice(0, 12)}…`, object({ p: { type: "string", format } }), { p: text }]);
    }
    cases.push([
      `format ${format} on many items`,
      object({ p: { type: "array", items: { type: "string", format } } }),
      { p: list("a") },
    ]);
  }
  const listed = many(5_000, (n) => n);
  cases.push(
    [
      "a long enum on many items",
      object({ p: { type: "array", items: { type: "integer", enum: listed } } }),
      { p: list(4_999) },
    ],
    [
      "an enum of objects",
      object({ p: { type: "object", enum: many(3_000, (n) => ({ n })) } }),
      { p: { a: list({ a: 1 }) } },
    ],
    ["wrong types in many items", object({ p: { type: "array", items: { type: "string" } } }), { p: list(1) }],
    [
      "many unique items",
      object({ p: { type: "array", items: { type: "string" }, uniqueItems: true, maxItems: 100 } }),
      { p: list("a") },
    ],
    ["many unknown keys", object({}), Object.fromEntries(many(6_000, (n) => [`k${n}`, 1]))],
    ["nested values to compare", object({ p: { type: "object", const: {} } }), { p: { a: list([[[[[[1]]]]]]) } }],
    [
      "a long text with lengths",
      object({ p: { type: "string", minLength: 60_000, maxLength: 60_001 } }),
      { p: "😀".repeat(16_000) },
    ],
  );
  for (const [name, schema, config] of cases) {
    test(name, () => {
      const text = JSON.stringify(schema);
      assert.ok(JSON.stringify(config).length <= maxConfigBytes * 2, "the size is what it says");
      assert.deepEqual(checkSchema(schema), []);
      assertCpuTime(maxMs, () => compileSchema(JSON.parse(text) as ConfigSchema)(config));
    });
  }
});

/** Schemas that repeat escapes that RE2 expands into many ranges, up to the limits of a pattern and of a schema. */
function expensiveRanges(unit: string): [name: string, schema: unknown][] {
  const repeated = (count: number): string =>
    unit.endsWith("|") ? `${unit.repeat(count)}a` : `[^${unit.repeat(count)}]`;
  const isAllowed = (count: number): boolean =>
    checkSchema(object({ p: { type: "string", pattern: repeated(count) } })).length === 0;
  const longest = Math.floor((maxPatternLength - 3) / unit.length);
  const allowed = many(longest, (n) => longest - n).find(isAllowed) ?? 1;
  const atMost = Math.floor(maxTotalPositions / compilePattern(repeated(allowed)).positions);
  const schema = (count: number, times: number): unknown =>
    properties(times, () => ({ type: "string", pattern: repeated(count) }));
  return [
    [`95 patterns of ${longest} ${unit}`, schema(longest, 95)],
    [`${atMost} patterns of ${allowed} ${unit}, which are allowed`, schema(allowed, Math.min(atMost, 95))],
  ];
}

describe("checks and compiles any schema in bounded time", () => {
  const full = "[a-z]{0,40}";
  const cases: [name: string, schema: unknown][] = [
    [
      "100 patterns of as many positions as are allowed",
      properties(100, () => ({ type: "string", pattern: "[ab]{0,29}c" })),
    ],
    ["12 patterns of 250 positions", properties(12, () => ({ type: "string", pattern: "^[a-z]{0,248}$" }))],
    ["100 large patterns", properties(100, (n) => ({ type: "string", pattern: `${full.repeat(6)}${n}` }))],
    ["100 long patterns", properties(100, (n) => ({ type: "string", pattern: `(?:${"a|b".repeat(80)})${n}` }))],
    [
      "100 patterns with classes of many ranges",
      properties(100, () => ({ type: "string", pattern: "[\\p{L}\\S]{40}" })),
    ],
    ...["\\p{L}", "\\P{C}", "\\p{C}|", "[^\\P{C}]|", "\\s", "\\S", "\\W", "\\p{Lu}\\s"].flatMap(expensiveRanges),
    [
      "100 patterns that are refused",
      properties(100, () => ({ type: "string", pattern: "(?:a{1000}){1000}(?:b{1000}){1000}" })),
    ],
    ["a long enum", object({ p: { type: "integer", enum: many(6_000, (n) => n) } })],
    ["many keywords", { type: "object", ...Object.fromEntries(many(3_000, (n) => [`k${n}`, {}])) }],
    ["many properties", properties(1_500, () => ({ type: "string" }))],
    ["1 MiB", { type: "object", default: "x".repeat(1_000_000) }],
    ["1 MiB of nested lists", JSON.parse(`{"a":${"[".repeat(500_000)}${"]".repeat(500_000)}}`)],
    ["1 MiB of empty lists", { type: "object", default: many(300_000, () => []) }],
  ];
  for (const [name, schema] of cases) {
    test(name, () => {
      assertCpuTime(maxMs, () => {
        if (checkSchema(schema).length === 0) compileSchema(schema as ConfigSchema)({});
      });
    });
  }
});

test("redacts and keeps the secrets of the largest configuration in bounded time", () => {
  const schema = properties(100, () => ({ type: "string", writeOnly: true }));
  assert.ok(JSON.stringify(schema).length < maxSchemaBytes);
  const secrets = findSecrets(schema);
  const config = Object.fromEntries(many(5_000, (n) => [`p${n}`, { a: [n] }]));
  assertCpuTime(maxMs, () => keepSecrets(redact(config, secrets), config, secrets));
});
