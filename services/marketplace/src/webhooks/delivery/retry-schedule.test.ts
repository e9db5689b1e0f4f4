import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { mostFailures, waitAfter, waitForProbe } from "./retry-schedule.ts";

const units = { s: 1_000, min: 60_000, h: 3_600_000 };
const decided = "5 s, 15 s, 1 min, 5 min, 15 min, 1 h, 3 h, 6 h, 12 h, 24 h, 24 h".split(", ");
const inMs = (text: string): number => {
  const [count, unit] = text.split(" ");
  return Number(count) * units[unit as keyof typeof units];
};
const shortest = (): number => 0;
const usual = (): number => 0.5;
const longest = (): number => 1;
const day = 24 * units.h;

test("between the twelve attempts are the waits that were decided, each up to a tenth shorter or longer", () => {
  for (const [index, text] of decided.entries()) {
    const waits = [shortest, usual, longest].map((random) => waitAfter(index + 1, null, random));
    assert.deepEqual(
      waits,
      [9, 10, 11].map((tenths) => (inMs(text) * tenths) / 10),
      `after failure ${index + 1}`,
    );
  }
  assert.equal(mostFailures, 12);
  for (const retryAfterMs of [null, 60_000]) assert.equal(waitAfter(12, retryAfterMs, usual), undefined);
});

test("the vendors' guide has the same waits, and the same end", async () => {
  const guide = await readFile(new URL("../../../../../docs/guides/vendor.md", import.meta.url), "utf8");
  const row = (title: string): string[] => {
    const line = guide.split("\n").find((each) => each.startsWith(`| ${title}`)) ?? assert.fail(title);
    return line
      .split("|")
      .slice(2, -1)
      .map((cell) => cell.trim());
  };
  assert.deepEqual(
    row("After failure"),
    Array.from({ length: mostFailures }, (_none, index) => String(index + 1)),
  );
  assert.deepEqual(row("the next is in"), [...decided, "never: `failed`"]);
});

test("who asks for a longer wait gets it, up to a day, and never a shorter one", () => {
  const afterFirst = (retryAfterMs: number, random = usual): number | undefined => waitAfter(1, retryAfterMs, random);
  assert.equal(afterFirst(0), 5_000);
  assert.equal(afterFirst(4_000), 5_000);
  assert.equal(afterFirst(6_000), 6_000);
  assert.equal(afterFirst(120_000), 120_000);
  assert.equal(afterFirst(day), day);
  assert.equal(afterFirst(2 * day), day);
  assert.equal(waitAfter(11, day, longest), (day * 11) / 10, "longer already");
});

test("chance never brings an attempt before the time that was asked for", () => {
  for (const random of [shortest, usual, longest]) {
    for (const retryAfterMs of [4_600, 5_000, 5_400]) {
      const wait = waitAfter(1, retryAfterMs, random) ?? 0;
      assert.ok(wait >= retryAfterMs, `${wait} ms where ${retryAfterMs} ms were asked for`);
    }
  }
});

test("a recipient that is held is probed after a minute, then less and less often, every 15 minutes at the least", () => {
  const minutes = Array.from({ length: 7 }, (_none, failed) => waitForProbe(failed) / units.min);
  assert.deepEqual(minutes, [1, 2, 4, 8, 15, 15, 15]);
  for (const failed of [100, 10_000, 2 ** 31]) assert.equal(waitForProbe(failed), 15 * units.min);
});
