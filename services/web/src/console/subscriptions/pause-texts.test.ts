import assert from "node:assert/strict";
import { test } from "node:test";
import { texts } from "../texts.ts";
import { addDays, keptDays } from "./kept-days.ts";

// As the marketplace charges: a day costs the most that the practice had in it and in the six days before.
test("who pauses an app is told until when a fixed price is charged", () => {
  const lastDay = addDays(new Date("2026-11-20T23:59:00Z"), keptDays - 1).slice(0, 10);
  assert.equal(lastDay, "2026-11-26");
  assert.match(texts.pauseDialog.costs(lastDay), /^A fixed price is charged until 2026-11-26: .* last seven days\.$/);
});

test("who changes a plan is told that more counts from today, and less after seven days", () => {
  const reducedFrom = addDays(new Date("2026-11-20T00:00:00Z"), keptDays).slice(0, 10);
  assert.match(
    texts.planDialog.text(reducedFrom),
    /^A higher price counts from today \(UTC\), a lower one from 2026-11-27\./,
  );
});

test("whose app is paused at its limit is told which days are free, and when they aren't", () => {
  const { text } = texts.spendLimit.paused;
  assert.match(text, /paused throughout \(UTC\) have no fixed price, unless you raise the limit in the same month/);
});

test("who resumes an app is told that a fixed price is charged from today, and usage from now", () => {
  assert.match(texts.resumeDialog.costs, /^A fixed price is charged from today \(UTC\), usage from now\./);
});
