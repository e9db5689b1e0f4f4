import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { probeDelayMs } from "../recipients/recovery-schedule.ts";
import { maxFailures, retryDelayMs } from "./retry-schedule.ts";

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

test("delays between the twelve attempts follow the schedule, with a jitter of 10 %", () => {
  for (const [index, text] of decided.entries()) {
    const delays = [shortest, usual, longest].map((random) => retryDelayMs(index + 1, null, random));
    assert.deepEqual(
      delays,
      [9, 10, 11].map((tenths) => (inMs(text) * tenths) / 10),
      `after failure ${index + 1}`,
    );
  }
  assert.equal(maxFailures, 12);
  for (const retryAfterMs of [null, 60_000]) assert.equal(retryDelayMs(12, retryAfterMs, usual), undefined);
});

test("the vendors' guide documents the same delays and the same end", async () => {
  const guide = await readFile(new URL("../../../../docs/guides/vendor.md", import.meta.url), "utf8");
  const row = (title: string): string[] => {
    const line = guide.split("\n").find((each) => each.startsWith(`| ${title}`)) ?? assert.fail(title);
    return line
      .split("|")
      .slice(2, -1)
      .map((cell) => cell.trim());
  };
  assert.deepEqual(
    row("After failure"),
    Array.from({ length: maxFailures }, (_none, index) => String(index + 1)),
  );
  assert.deepEqual(row("Next attempt in"), [...decided, "never: `failed`"]);
});

test("a longer Retry-After is respected up to a day, a shorter one is ignored", () => {
  const afterFirst = (retryAfterMs: number, random = usual): number | undefined =>
    retryDelayMs(1, retryAfterMs, random);
  assert.equal(afterFirst(0), 5_000);
  assert.equal(afterFirst(4_000), 5_000);
  assert.equal(afterFirst(6_000), 6_000);
  assert.equal(afterFirst(120_000), 120_000);
  assert.equal(afterFirst(day), day);
  assert.equal(afterFirst(2 * day), day);
  assert.equal(retryDelayMs(11, day, longest), (day * 11) / 10, "longer already");
});

test("jitter never schedules an attempt before Retry-After", () => {
  for (const random of [shortest, usual, longest]) {
    for (const retryAfterMs of [4_600, 5_000, 5_400]) {
      const wait = retryDelayMs(1, retryAfterMs, random) ?? 0;
      assert.ok(wait >= retryAfterMs, `${wait} ms with a Retry-After of ${retryAfterMs} ms`);
    }
  }
});

test("a held recipient is probed after a minute, then at growing intervals of up to 15 minutes", () => {
  const minutes = Array.from({ length: 7 }, (_none, failed) => probeDelayMs(failed) / units.min);
  assert.deepEqual(minutes, [1, 2, 4, 8, 15, 15, 15]);
  for (const failed of [100, 10_000, 2 ** 31]) assert.equal(probeDelayMs(failed), 15 * units.min);
});
