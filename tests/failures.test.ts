import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { failureList } from "./failures.ts";

const file = join(process.cwd(), "tests/limits/some.test.ts");

test("a failed test is listed with its file, its name and what it threw", () => {
  const cause = Object.assign(new Error("1 is not 2"), { stack: "Error: 1 is not 2\n    at some.test.ts:7" });
  const list = failureList([
    { name: "one is two", file, line: 5, details: { error: new Error("wrapped", { cause }) } },
  ]);
  assert.equal(
    list,
    [
      "Failed tests (1):",
      "",
      "  tests/limits/some.test.ts:5",
      "  one is two",
      "    Error: 1 is not 2",
      "        at some.test.ts:7",
      "",
    ].join("\n"),
  );
});

test("the list has the first 40 lines of an error, and says how many are missing", () => {
  const lines = Array.from({ length: 100 }, (_, nth) => `line ${nth + 1}.`);
  const list = failureList([{ name: "long", file, details: { error: new Error("", { cause: lines.join("\n") }) } }]);
  assert.match(list, /line 40\.\n {4}… 60 more lines\n/);
  assert.doesNotMatch(list, /line 41\./);
});

test("a file that fails as a whole is listed with what its process printed", () => {
  const error = new Error("wrapped", { cause: "test failed" });
  const list = failureList([
    { name: file, file, details: { error }, stderr: "Error: at load\n    at some.test.ts:1\n" },
  ]);
  assert.match(list, / {4}test failed\n {4}Error: at load\n {8}at some\.test\.ts:1\n/);
});
