import assert from "node:assert/strict";
import { test } from "node:test";
import { formatTimeIn } from "../../storefront/format.ts";
import { texts } from "../texts.ts";
import { keptDays, startOfDay } from "./kept-days.ts";

const now = new Date("2026-10-28T23:59:00Z");
const inNewYork = (instant: Date): string => formatTimeIn("America/New_York", instant);

// As the marketplace charges: a day (UTC) costs the most that the practice had in it and in the six days before.
test("who pauses an app is told until when a fixed price is charged, in the practice's time zone", () => {
  const text = texts.pauseDialog.costs(inNewYork(startOfDay(now, keptDays)));
  // In UTC, it is November 4; the summer time ends in between.
  assert.match(text, /^A fixed price is charged until Nov 3, 2026, 7:00\sPM EST: .* last seven days\.$/);
});

test("who changes a plan is told from when more counts, and from when less, in the practice's time zone", () => {
  assert.match(
    texts.planDialog.text(inNewYork(startOfDay(now)), inNewYork(startOfDay(now, keptDays))),
    /^A higher price applies from Oct 27, 2026, 8:00\sPM EDT, a lower one from Nov 3, 2026, 7:00\sPM EST\./,
  );
});

test("who resumes an app is told from when a fixed price is charged; in UTC where the zone isn't known", () => {
  for (const timeZone of ["UTC", "Mars/Olympus"]) {
    assert.match(
      texts.resumeDialog.costs(formatTimeIn(timeZone, startOfDay(now))),
      /^A fixed price is charged from Oct 28, 2026, 12:00\sAM UTC, usage from now\./,
    );
  }
});

test("whose app is paused at its limit is told which days are free, and when they aren't", () => {
  const { text } = texts.spendLimit.paused;
  assert.match(text, /paused throughout \(UTC\) have no fixed price, unless you raise the limit in the same month/);
});
