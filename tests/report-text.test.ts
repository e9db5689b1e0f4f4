import assert from "node:assert/strict";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { reportText } from "./report-text.ts";

test("a failed hook is reported once, with its reason; the tests that it cancels are only listed", async () => {
  const failure = (failureType: string, cause: unknown) => ({
    duration_ms: 1,
    error: Object.assign(new Error("wrapped", { cause }), { code: "ERR_TEST_FAILURE", failureType }),
  });
  const cancelled = failure("cancelledByParent", "test did not finish before its parent and was cancelled");
  const hookFailed = failure("hookFailed", new Error("the service has no routes"));
  const suite = { name: "subscriptions", nesting: 0, file: "some.test.ts", line: 1, column: 1 };
  const inner = { ...suite, name: "a practice subscribes", nesting: 1 };
  async function* events() {
    yield { type: "test:start", data: suite };
    yield { type: "test:start", data: inner };
    yield { type: "test:fail", data: { ...inner, details: cancelled } };
    yield { type: "test:fail", data: { ...suite, details: { ...hookFailed, type: "suite" } } };
  }
  const reported = await text(reportText(events()));
  assert.match(reported, /a practice subscribes.*# not run/);
  assert.match(
    reported,
    /failing tests:\s+test at some\.test\.ts:1:1\s+✖ subscriptions.*\s+Error: the service has no routes/,
  );
  assert.doesNotMatch(reported, /did not finish/);
});
