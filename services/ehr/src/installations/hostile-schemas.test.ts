import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { assertFailure, cleanUpAfter, eventually } from "@ehr-marketplace/tests/support";
import {
  configInClear,
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

const nested = (depth: number): unknown => JSON.parse(`${'{"not":'.repeat(depth)}{}${"}".repeat(depth)}`);
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
  ["a schema that nests ten thousand deep", nested(10_000), {}, /refers to itself without end|nests too deep/],
  ["a schema that nests thirty thousand deep", nested(30_000), {}, /nests too deep/],
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

describe("whatever a vendor publishes as a schema", () => {
  const cleanUp = cleanUpAfter();
  let practice: Practice;
  let harmless: string;
  before(async () => {
    practice = await startPractice(cleanUp);
    harmless = await install(practice.database.ownerUrl, { schema: { properties: { ok: { type: "boolean" } } } });
    await dataOf(await putConfig(practice, harmless, { ok: true }));
  });

  /** Asks on while it goes on: nobody else may notice. */
  const assertUnnoticed = async (during: Promise<unknown>): Promise<void> => {
    const ended = during.then(() => true);
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
  };

  for (const [name, schema, config, why] of hostile) {
    test(`${name}: it is refused in time, others don't notice, and nothing is stored`, async () => {
      const slug = await install(practice.database.ownerUrl, { schema });
      const began = performance.now();
      const refused = putConfig(practice, slug, config);
      await assertUnnoticed(refused);
      assert.ok(performance.now() - began < overWithinMs);
      assert.match(await assertFailure(await refused, 422), why);
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
    const answer = putConfig(practice, slug, { all });
    await assertUnnoticed(answer);
    const { status } = await answer;
    assert.ok(status === 200 || status === 422, `it was ${status}`);
  });

  test("many at once: the harmless are checked all the same, and no thread is left behind", async () => {
    const slug = await install(practice.database.ownerUrl, { schema: errorsWithoutEnd });
    const answers = Array.from({ length: 4 }, () => putConfig(practice, slug, { value: 1 }));
    const all = Promise.all(answers);
    await assertUnnoticed(all);
    for (const { status } of await all) assert.ok(status === 422 || status === 503, `it was ${status}`);
    await eventually(
      "the harmless is checked",
      5_000,
      async () => (await putConfig(practice, harmless, {})).status === 200,
    );
  });
});
