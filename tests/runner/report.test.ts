import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { createReport, type TestEnd } from "./report.ts";

const file = join(process.cwd(), "tests/limits/some.test.ts");

function failed(name: string, cause: unknown, rest: { failureType?: string; type?: string; nesting?: number } = {}) {
  const { failureType = "testCodeFailure", type = "test", nesting = 1 } = rest;
  const error = Object.assign(new Error("wrapped", { cause }), { failureType });
  return { name, nesting, file, line: 5, details: { passed: false, duration_ms: 1, type, error } } satisfies TestEnd;
}

test("a failed test is listed with its file, its name and what it threw", () => {
  const report = createReport([]);
  const cause = Object.assign(new Error("1 is not 2"), { stack: "Error: 1 is not 2\n    at some.test.ts:7" });
  assert.equal(report.add(failed("one is two", cause)), "✖ tests/limits/some.test.ts:5 one is two");
  const { failures, failed: count } = report.end();
  assert.match(
    failures,
    /^Failed \(1\):\n\n {2}tests\/limits\/some\.test\.ts:5\n {2}one is two\n {4}Error: 1 is not 2\n/,
  );
  assert.equal(count, 1);
});

test("the name of a failed test begins with its suites", () => {
  const report = createReport([]);
  report.begin({ name: "some.test.ts", nesting: 0 });
  report.begin({ name: "a vendor", nesting: 1, file });
  report.begin({ name: "publishes", nesting: 2, file });
  assert.equal(
    report.add(failed("publishes", new Error("409"), { nesting: 2 })),
    "✖ tests/limits/some.test.ts:5 a vendor › publishes",
  );
});

test("a skipped test has failed", () => {
  const report = createReport([]);
  const details = { passed: true, duration_ms: 1_500, type: "test" };
  report.add({ name: "closes a month", nesting: 1, file, line: 7, skip: true, details });
  const { failures, passed, failed: count } = report.end();
  assert.match(failures, /some\.test\.ts:7\n {2}closes a month\n {4}A test may not be skipped\./);
  assert.deepEqual([passed, count], [0, 1]);
});

test("the list has the first and the last lines of a long error, and says how many are missing", () => {
  const report = createReport([]);
  report.add(failed("long", Array.from({ length: 100 }, (_, nth) => `line ${nth + 1}.`).join("\n")));
  assert.match(report.end().failures, /line 30\.\n {4}… 60 more lines\n {4}line 91\.\n/);
});

test("a failed hook is listed once, with its reason; the tests that it cancels only count", () => {
  const report = createReport([]);
  const cancelled = "test did not finish before its parent and was cancelled";
  report.add(failed("a practice subscribes", cancelled, { failureType: "cancelledByParent" }));
  report.add(
    failed("subscriptions", new Error("the service has no routes"), { failureType: "hookFailed", type: "suite" }),
  );
  const { failures, failed: count } = report.end();
  assert.match(failures, /subscriptions\n {4}Error: the service has no routes/);
  assert.doesNotMatch(failures, /a practice subscribes/);
  assert.equal(count, 2);
});

test("an error of many tests is written once", () => {
  const report = createReport([]);
  for (const name of ["first", "second"]) report.add(failed(name, "not ready\n    at start"));
  const { failures } = report.end();
  assert.equal(failures.match(/at start/g)?.length, 1);
  assert.match(failures, /second\n {4}not ready\n/);
});

test("a file whose process ends before it counts as failed", () => {
  const report = createReport(["tests/limits/some.test.ts", "tests/limits/other.test.ts"]);
  const details = { passed: true, duration_ms: 1_500, type: "suite" };
  const line = report.add({ name: "tests/limits/other.test.ts", nesting: 0, details });
  assert.equal(line, "✔ [1/2] tests/limits/other.test.ts (1.5 s)");
  const { failures, failed: count } = report.end();
  assert.match(failures, /tests\/limits\/some\.test\.ts has not ended: its process did before/);
  assert.equal(count, 1);
});
