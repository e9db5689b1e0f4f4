import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readEmail, setMailed } from "./mail-kinds.ts";

describe("the settings of mails", () => {
  for (const [entered, email] of [
    [" office@example.com ", "office@example.com"],
    ["", null],
    ["  ", null],
    ["office", undefined],
    ["a@b.example, c@d.example", undefined],
    ["Office <office@example.com>", undefined],
    [`${"a".repeat(65)}@example.com`, undefined],
  ] as const) {
    test(`"${entered.slice(0, 30)}" is read as ${email}`, () => assert.equal(readEmail(entered), email));
  }

  test("a kind is muted or mailed, and kinds that aren't shown stay as they are", () => {
    assert.deepEqual(setMailed(["review-due"], "spend-limit", false), ["review-due", "spend-limit"]);
    assert.deepEqual(setMailed(["review-due", "spend-limit"], "spend-limit", true), ["review-due"]);
    assert.deepEqual(setMailed(["spend-limit"], "spend-limit", false), ["spend-limit"]);
  });
});
