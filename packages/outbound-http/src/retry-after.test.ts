import assert from "node:assert/strict";
import { test } from "node:test";
import { parseRetryAfter } from "./response.ts";

const now = Date.parse("2026-03-01T12:00:00Z");
const day = 86_400_000;

for (const [header, expected] of [
  ["0", 0],
  ["120", 120_000],
  [" 120 ", 120_000],
  ["86400", day],
  ["86401", day],
  ["999999999999999", day],
  ["9999999999999999999999999", null],
  ["Sun, 01 Mar 2026 12:05:00 GMT", 300_000],
  ["Sunday, 01-Mar-26 12:05:00 GMT", 300_000],
  ["Sun Mar  1 12:05:00 2026", 300_000],
  ["Sun, 01 Mar 2026 11:00:00 GMT", 0],
  ["Fri, 01 Jan 2100 00:00:00 GMT", day],
  ["Sun, 99 Foo 2026 12:05:00 GMT", null],
  ["Sun, 01 Mar 2026 12:05:00 +0100", null],
  ["2026-03-01T12:05:00Z", null],
  ["-1", null],
  ["1.5", null],
  ["1e3", null],
  ["0x10", null],
  ["120, 240", null],
  ["soon", null],
  ["", null],
  [["60", "120"], 60_000],
  [undefined, null],
] as const) {
  test(`Retry-After: ${String(header)} is ${expected === null ? "no wish" : `${expected} ms`}`, () => {
    for (const status of [429, 503]) {
      const given = typeof header === "object" ? [...header] : header;
      assert.equal(parseRetryAfter(status, given, now), expected);
    }
  });
}

test("other statuses have no say in when to come again", () => {
  for (const status of [200, 202, 301, 400, 410, 500, 502, 504]) assert.equal(parseRetryAfter(status, "60", now), null);
});
