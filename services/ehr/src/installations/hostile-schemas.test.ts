import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { assertFailure, cleanUpAfter, eventually } from "@ehr-marketplace/tests/support";
import {
  configInClear,
  configShown,
  dataOf,
  install,
  type Practice,
  putConfig,
  startPractice,
} from "./installations.test-support.ts";

/** All but one in twenty; and the slowest, on a machine that others use too. Without a thread of its own, some of these would hang for ever. */
const answersWithinMs = { mostly: 200, always: 2_000 };
/** A second of its own processor time, or a few on a busy machine. */
const overWithinMs = 9_000;

/** Each alternative has two more, down to a depth: as many checks as there are leaves. */
function exponential(depth: number): object {
  const $defs: Record<string, object> = { level0: { type: "string", const: "never" } };
  for (let level = 1; level <= depth; level += 1) {
    const below = { $ref: `#/$defs/level${level - 1}` };
    $defs[`level${level}`] = { anyOf: [below, { allOf: [below, {}] }] };
  }
  return { $defs, properties: { value: { $ref: `#/$defs/level${depth}` } } };
}

const many = <T>(count: number, each: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => each(n));
const nested = (depth: number): unknown => JSON.parse(`${'{"not":'.repeat(depth)}{}${"}".repeat(depth)}`);
/** Each `$id` continues the one around it, which makes them longer and longer. */
const idsWithinIds = (depth: number, inner: string): unknown =>
  JSON.parse(`${`{"$id":"${"a".repeat(40)}/",${inner}:`.repeat(depth)}{}${"}".repeat(depth)}`);
/** Twice as many errors at each level, all of them kept until the end. */
const errorsWithoutEnd = exponential(40);

const hostile: [name: string, schema: unknown, config: object, why: RegExp][] = [
  [
    "a pattern that backtracks without end",
    { properties: { a: { pattern: "^(a+)+$" } } },
    { a: `${"a".repeat(40)}!` },
    /more time or memory/,
  ],
  [
    "a pattern for names that does",
    { patternProperties: { "^(a+)+$": {} } },
    { [`${"a".repeat(40)}!`]: 1 },
    /more time or memory/,
  ],
  ["alternatives that multiply", errorsWithoutEnd, { value: 1 }, /more time or memory/],
  [
    "errors that fill the memory",
    { properties: { a: { items: { allOf: Array.from({ length: 5_000 }, () => ({ type: "string" })) } } } },
    { a: Array.from({ length: 5_000 }, () => 1) },
    /more time or memory/,
  ],
  ["a schema that refers to itself", { $ref: "#" }, {}, /refers to itself without end/],
  [
    "two that refer to each other",
    { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } },
    {},
    /refers to itself without end/,
  ],
  ["a schema that nests 65 deep", nested(64), {}, /nests too deep: more than 64 levels/],
  ["a schema that nests ten thousand deep", nested(10_000), {}, /refers to itself without end|nests too deep/],
  ["a schema that nests thirty thousand deep", nested(30_000), {}, /nests too deep/],
  ["four thousand $ids within each other", idsWithinIds(4_000, '"not"'), {}, /\$id of more than 256/],
  ["$ids that references lead ever deeper into", idsWithinIds(2_000, '"$ref":"#/x","x"'), {}, /\$id of more than 256/],
  [
    "a thousand and more $ids",
    { allOf: many(5_000, (n) => ({ $id: `https://v.example/${n}` })) },
    {},
    /more than 1000 \$ids/,
  ],
  ["tens of thousands of schemas", { allOf: many(80_000, () => ({})) }, {}, /more than 6000 parts/],
  ["a check that would only promise an answer", { $async: true, required: ["a"] }, {}, /\$async/],
  ["a part that would", { properties: { a: { $async: true, type: "string" } } }, { a: 1 }, /async/],
  [
    "a reference elsewhere",
    { $ref: "http://elsewhere.example/schema.json" },
    {},
    /http:\/\/elsewhere\.example\/schema\.json.*not part of it/,
  ],
  ["a reference to a file", { properties: { a: { $ref: "file:///etc/passwd" } } }, {}, /not part of it/],
  ["a reference to nothing", { properties: { a: { $ref: "#/$defs/none" } } }, {}, /#\/\$defs\/none.*not part of it/],
  ["another dialect", { $schema: "http://json-schema.org/draft-04/schema#" }, {}, /draft-04/],
  ["a keyword with nonsense", { type: "strange" }, {}, /type/],
  ["a pattern that is none", { properties: { a: { pattern: "(" } } }, { a: "b" }, /\(/],
  [
    "more than 256 KiB",
    { properties: { a: { enum: Array.from({ length: 40_000 }, (_, n) => `value ${n}`) } } },
    { a: "b" },
    /more than 256 KiB/,
  ],
  ["no schema at all", "a string", {}, /no JSON object/],
];

/** Every value is in all alternatives at once, at any depth. None is ever checked: nothing has the name that it depends on. */
function secretsInLists(alternatives: number): object {
  const below = { $ref: "#/$defs/level" };
  const secret = (n: number): object => ({ items: below, properties: { [`s${n}`]: { writeOnly: true } } });
  const dependentSchemas = Object.fromEntries(many(alternatives, (n) => [`never${n}`, secret(n)]));
  return { $defs: { level: { dependentSchemas } }, properties: { a: below, b: below } };
}

const listsWithin = (depth: number, items: unknown[]): unknown[] =>
  depth === 1 ? items : [listsWithin(depth - 1, items)];

describe("whatever a vendor publishes as a schema", () => {
  const cleanUp = cleanUpAfter();
  let practice: Practice;
  let harmless: string;
  before(async () => {
    practice = await startPractice(cleanUp);
    harmless = await install(practice.database.ownerUrl, { schema: { properties: { ok: { type: "boolean" } } } });
    await dataOf(await putConfig(practice, harmless, { ok: true }));
  });

  /** Asks on while it goes on, from just before it begins: nobody else may notice. */
  const unnoticed = async <T>(work: () => Promise<T>): Promise<T> => {
    const done = nextTurn().then(work);
    const ended = done.then(() => true);
    const waited: number[] = [];
    do {
      const began = performance.now();
      const path = `/app-installations/${harmless}/installed`;
      assert.equal(await dataOf(await practice.as("riverside-member", path)), true);
      waited.push(performance.now() - began);
    } while (!(await Promise.race([ended, nextTurn(false)])));
    waited.sort((a, b) => a - b);
    const [mostly = 0, always = 0] = [waited[Math.floor(waited.length * 0.95) - 1] ?? waited[0], waited.at(-1)];
    assert.ok(
      mostly < answersWithinMs.mostly && always < answersWithinMs.always,
      `others waited ${mostly}, ${always} ms`,
    );
    return done;
  };

  for (const [name, schema, config, why] of hostile) {
    test(`${name}: it is refused in time, others don't notice, and nothing is stored`, async () => {
      const slug = await unnoticed(() => install(practice.database.ownerUrl, { schema }));
      const began = performance.now();
      const refused = await unnoticed(() => putConfig(practice, slug, config));
      assert.ok(performance.now() - began < overWithinMs);
      assert.match(await assertFailure(refused, 422), why);
      assert.deepEqual(await configInClear(practice, slug), {});
      await dataOf(await putConfig(practice, harmless, { ok: false }));
    });
  }

  test("large but honest ones are checked", async () => {
    const values = Array.from({ length: 15_000 }, (_, n) => `v${n}`);
    const slug = await install(practice.database.ownerUrl, {
      schema: {
        properties: { choice: { enum: values }, all: { type: "array", uniqueItems: true, maxItems: 5_000 } },
      },
    });
    await dataOf(
      await putConfig(practice, slug, { choice: "v14999", all: Array.from({ length: 4_000 }, (_, n) => n) }),
    );
    assert.match(await assertFailure(await putConfig(practice, slug, { choice: "w" }), 400), /\/body\/choice/);
  });

  test("comparing each of many objects with each other ends in time, with an answer", async () => {
    const slug = await install(practice.database.ownerUrl, {
      schema: { properties: { all: { type: "array", uniqueItems: true } } },
    });
    const all = Array.from({ length: 5_000 }, (_, n) => ({ n }));
    const { status } = await unnoticed(() => putConfig(practice, slug, { all }));
    assert.ok(status === 200 || status === 422, `it was ${status}`);
  });

  for (const alternatives of [1, 30, 100]) {
    test(`secrets in lists within lists, by ${alternatives} alternatives, are kept, and others don't notice`, async () => {
      const schema = secretsInLists(alternatives);
      const slug = await unnoticed(() => install(practice.database.ownerUrl, { schema }));
      const config = {
        a: listsWithin(
          55,
          many(28_000, (n) => n % 7),
        ),
        b: [[{ s0: "a secret", c: 1 }]],
      };
      await dataOf(await unnoticed(() => putConfig(practice, slug, config)));
      const shown = await configShown(practice, slug);
      assert.doesNotMatch(JSON.stringify(shown), /a secret/);
      await dataOf(await unnoticed(() => putConfig(practice, slug, shown)));
      assert.deepEqual(await configInClear(practice, slug), config);
    });
  }

  test("many at once: the harmless are checked all the same, and no thread is left behind", async () => {
    const slug = await install(practice.database.ownerUrl, { schema: errorsWithoutEnd });
    const all = await unnoticed(() => Promise.all(many(4, () => putConfig(practice, slug, { value: 1 }))));
    for (const { status } of all) assert.ok(status === 422 || status === 503, `it was ${status}`);
    await eventually(
      "the harmless is checked",
      5_000,
      async () => (await putConfig(practice, harmless, {})).status === 200,
    );
  });
});
