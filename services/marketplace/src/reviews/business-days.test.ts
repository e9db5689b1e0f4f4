import assert from "node:assert/strict";
import { test } from "node:test";
import { addBusinessDays } from "./business-days.ts";

for (const [from, days, to] of [
  ["2026-11-16T09:30:00.000Z", 10, "2026-11-30T09:30:00.000Z"],
  ["2026-11-20T23:59:59.999Z", 1, "2026-11-23T23:59:59.999Z"],
  ["2026-11-21T08:00:00.000Z", 1, "2026-11-23T08:00:00.000Z"],
  ["2026-11-22T08:00:00.000Z", 10, "2026-12-04T08:00:00.000Z"],
  ["2026-12-31T00:00:00.000Z", 2, "2027-01-04T00:00:00.000Z"],
] as const) {
  test(`${days} business days after ${from} is ${to}`, () => {
    assert.equal(addBusinessDays(new Date(from), days).toISOString(), to);
  });
}
