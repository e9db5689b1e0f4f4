import assert from "node:assert/strict";
import { test } from "node:test";
import { texts } from "../texts.ts";

// As the marketplace charges: a day is what the subscription is at its start.
const freeDays = /A fixed price isn't charged for days that begin while it is paused \(UTC\)\./;

test("who pauses an app is told that days which begin paused are free, and today isn't", () => {
  assert.match(texts.pauseDialog.stays, freeDays);
  assert.match(texts.pauseDialog.stays, /Today counts in full\.$/);
});

test("whose app is paused at its limit is told that days which begin paused are free, and the first isn't", () => {
  assert.match(texts.spendLimit.paused.text, freeDays);
  assert.match(texts.spendLimit.paused.text, /The day on which it was paused counts in full\.$/);
});

test("who resumes an app is told that a fixed price is charged from tomorrow, and usage from now", () => {
  assert.match(texts.resumeDialog.costs, /^A fixed price is charged from tomorrow \(UTC\), usage from now\./);
});
