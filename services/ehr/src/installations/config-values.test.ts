import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { inspectSchema } from "../apps/inspect-schema.ts";
import { type Config, keepSecrets, nestsTooDeep, withoutSecrets } from "./config-values.ts";

const marked = { writeOnly: true };
/** A part of a schema that is no list of secrets alone, together with a value for it. */
const { part } = fc.letrec<{ part: { schema: object; value: unknown } }>((tie) => ({
  part: fc.oneof(
    { maxDepth: 4 },
    fc.record({ schema: fc.constant({}), value: fc.constantFrom("open", 1, null, true) }),
    fc.record({ schema: fc.constant(marked), value: fc.integer().map((n) => `hidden ${n}`) }),
    fc.dictionary(fc.constantFrom("a", "b", "c", "toString", ""), tie("part"), { maxKeys: 4 }).map((parts) => ({
      schema: { properties: Object.fromEntries(Object.entries(parts).map(([name, { schema }]) => [name, schema])) },
      value: Object.fromEntries(Object.entries(parts).map(([name, { value }]) => [name, value])),
    })),
    fc.tuple(tie("part"), fc.nat(3)).map(([{ schema, value }, count]) => ({
      schema: { items: schema === marked ? {} : schema },
      value: Array.from({ length: count }, (_, n) => (schema === marked ? n : value)),
    })),
  ),
}));
const configured = fc.dictionary(fc.constantFrom("x", "y", "z"), part).map((parts) => ({
  secrets: inspectSchema({
    properties: Object.fromEntries(Object.entries(parts).map(([name, { schema }]) => [name, schema])),
  }).secrets,
  config: Object.fromEntries(Object.entries(parts).map(([name, { value }]) => [name, value])),
}));

test("nothing hidden is shown, and all else is", () => {
  fc.assert(
    fc.property(configured, ({ secrets, config }) => {
      const [before, after] = [config, withoutSecrets(secrets, config)].map((each) => JSON.stringify(each));
      assert.doesNotMatch(after ?? "", /hidden/);
      assert.equal(after, before?.replaceAll(/"hidden -?\d+"/g, "null"));
    }),
  );
});

test("what was shown, sent back as it is, changes nothing", () => {
  fc.assert(
    fc.property(configured, ({ secrets, config }) => {
      const { config: kept } = keepSecrets(secrets, withoutSecrets(secrets, config), config);
      assert.deepEqual(kept, config);
    }),
  );
});

test("what is given whole is taken whole, whatever was stored", () => {
  fc.assert(
    fc.property(configured, configured, ({ secrets, config }, { config: stored }) => {
      assert.deepEqual(keepSecrets(secrets, config, stored), { config, fromStored: false });
    }),
  );
});

test("where nothing is shown, null keeps any of it", () => {
  const stored = { a: 1, b: { c: 2 } };
  assert.deepEqual(withoutSecrets("all", stored), { a: null, b: null });
  assert.deepEqual(keepSecrets("all", { a: null, b: { c: null }, d: null }, stored), {
    config: { a: 1, b: { c: null } },
    fromStored: true,
  });
});

test("secrets that are items themselves are never kept by their place", () => {
  const { secrets } = inspectSchema({ properties: { pins: { items: marked } } });
  assert.deepEqual(withoutSecrets(secrets, { pins: ["1", "2"] }), { pins: [null, null] });
  assert.deepEqual(keepSecrets(secrets, { pins: [null, "3"] }, { pins: ["1", "2"] }), {
    config: { pins: [null, "3"] },
    fromStored: false,
  });
});

test("depth is counted without falling over it", () => {
  const deep = (levels: number): Config => JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`) as Config;
  assert.equal(nestsTooDeep(deep(64)), false);
  assert.equal(nestsTooDeep(deep(65)), true);
  assert.equal(nestsTooDeep(deep(100_000)), true);
});
