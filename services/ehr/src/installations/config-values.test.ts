import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { inspectSchema } from "../apps/inspect-schema.ts";
import { type Config, nestsTooDeep, withoutSecrets } from "./config-values.ts";
import { keepSecrets } from "./keep-secrets.ts";

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
      assert.deepEqual(keepSecrets(secrets, config, stored), { config, fromStored: false, onlyEarlier: false });
    }),
  );
});

test("where nothing is shown, null keeps any of it", () => {
  const stored = { a: 1, b: { c: 2 } };
  assert.deepEqual(withoutSecrets("all", stored), { a: null, b: null });
  assert.deepEqual(keepSecrets("all", { a: null, b: { c: null }, d: null }, stored), {
    config: { a: 1, b: { c: null } },
    fromStored: true,
    onlyEarlier: false,
  });
});

test("secrets that are items themselves are never kept by their place", () => {
  const { secrets } = inspectSchema({ properties: { pins: { items: marked } } });
  assert.deepEqual(withoutSecrets(secrets, { pins: ["1", "2"] }), { pins: [null, null] });
  assert.deepEqual(keepSecrets(secrets, { pins: [null, "3"] }, { pins: ["1", "2"] }), {
    config: { pins: [null, "3"] },
    fromStored: false,
    onlyEarlier: false,
  });
});

test("what either of two schemas keeps secret is hidden, and sent back as it was shown, changes nothing", () => {
  fc.assert(
    fc.property(configured, fc.array(configured), ({ secrets, config }, others) => {
      const earlier = others.map((other) => other.secrets).filter((each) => each !== null);
      const shown = withoutSecrets(null, config, secrets === null ? earlier : [secrets, ...earlier]);
      assert.deepEqual(withoutSecrets(secrets, config, earlier), shown);
      assert.deepEqual(withoutSecrets(secrets, shown), shown);
      for (const each of earlier) assert.deepEqual(withoutSecrets(each, shown), shown);
      assert.deepEqual(keepSecrets(secrets, shown, config, earlier).config, config);
    }),
  );
});

test("null for what was secret only before keeps what is stored; where nothing is, it is null", () => {
  const { secrets: earlier } = inspectSchema({ properties: { key: marked, pin: marked } });
  const { secrets: now } = inspectSchema({ properties: { pin: marked } });
  assert.ok(earlier !== null);
  const keep = (given: Config) => keepSecrets(now, given, { key: "k", pin: "p" }, [earlier]);
  const kept = { config: { key: "k", pin: "p" }, fromStored: true, onlyEarlier: true };
  assert.deepEqual(keep({ key: null, pin: null }), kept);
  assert.deepEqual(keep({ key: "new", pin: null }), { ...kept, config: { key: "new", pin: "p" }, onlyEarlier: false });
  assert.deepEqual(keepSecrets(now, { key: null, pin: null }, {}, [earlier]).config, { key: null });
});

test("items that look the same keep their secrets in their order", () => {
  const { secrets } = inspectSchema({ properties: { list: { items: { properties: { pin: marked } } } } });
  const stored = { list: Array.from({ length: 5 }, (_, n) => ({ pin: `pin ${n}` })) };
  assert.deepEqual(keepSecrets(secrets, withoutSecrets(secrets, stored), stored).config, stored);
});

test("depth is counted without falling over it", () => {
  const deep = (levels: number): Config => JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`) as Config;
  assert.equal(nestsTooDeep(deep(64)), false);
  assert.equal(nestsTooDeep(deep(65)), true);
  assert.equal(nestsTooDeep(deep(100_000)), true);
});
