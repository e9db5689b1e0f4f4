import assert from "node:assert/strict";
import { test } from "node:test";
import {
  formatDate,
  formatDecimal,
  formatMoney,
  formatMonth,
  formatShortMonth,
  formatTime,
  toMajorUnits,
  toMinorUnits,
} from "./format.ts";

test("money is formatted exactly, in the digits of its currency", () => {
  for (const [minor, currency, expected] of [
    [4_900, "USD", "$49.00"],
    [0, "USD", "$0.00"],
    [5, "USD", "$0.05"],
    ["0.45", "USD", "$0.0045"],
    ["12.5", "USD", "$0.125"],
    ["0.00000001", "USD", "$0.0000000001"],
    ["0.00000001", "JPY", "¥0.00000001"],
    [1_234_567, "USD", "$12,345.67"],
    [4_900, "JPY", "¥4,900"],
    [-250n, "USD", "-$2.50"],
    [9_007_199_254_740_993n, "USD", "$90,071,992,547,409.93"],
  ] as const) {
    assert.equal(formatMoney(minor, currency), expected);
  }
});

test("amounts in major units are decimals", () => {
  assert.deepEqual(
    [toMajorUnits(4_900, "USD"), toMajorUnits(7, "USD"), toMajorUnits(7, "JPY")],
    ["49.00", "0.07", "7"],
  );
});

test("entered amounts are read exactly, or not at all", () => {
  for (const [entered, currency, expected] of [
    ["250", "USD", 25_000],
    [" 250.5 ", "USD", 25_050],
    ["0.05", "USD", 5],
    ["1,250.00", "USD", 125_000],
    ["7", "JPY", 7],
    ["7.5", "JPY", undefined],
    ["0.005", "USD", undefined],
    ["12,50", "USD", undefined],
    ["1.250,00", "USD", undefined],
    ["-1", "USD", undefined],
    ["1e3", "USD", undefined],
    ["5.", "USD", undefined],
    ["", "USD", undefined],
    ["99999999999999999", "USD", undefined],
  ] as const) {
    assert.equal(toMinorUnits(entered, currency), expected, entered);
  }
});

test("dates, months and times name their zone", () => {
  assert.equal(formatDate("2026-11-17T23:59:59.000Z"), "Nov 17, 2026 (UTC)");
  assert.equal(formatMonth("2026-12"), "December 2026 (UTC)");
  assert.equal(formatShortMonth("2026-12"), "Dec");
  assert.equal(formatTime(new Date("2026-11-17T09:05:00Z")).replaceAll("\u202f", " "), "Nov 17, 2026, 9:05 AM UTC");
});

test("quantities keep all their digits", () =>
  assert.equal(formatDecimal("12345678901234567890.5"), "12,345,678,901,234,567,890.5"));
