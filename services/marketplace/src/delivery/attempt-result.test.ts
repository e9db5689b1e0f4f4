import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { delivered } from "./attempt-result.test-support.ts";
import { type AttemptResult, createResponseTracker, toAttemptResult } from "./attempt-result.ts";

const timedOut: AttemptResult = {
  ...delivered,
  outcome: "failed",
  statusCode: null,
  error: "time-out",
  reachability: "unreachable",
};
const wrongSecret: AttemptResult = { ...delivered, outcome: "failed", statusCode: 401 };
const host = "https://ehr.example";

test("A response whose body times out is a failure with its status, also a 2xx and a 410", () => {
  for (const statusCode of [200, 410]) {
    const timedOutBody = { outcome: "failed", stage: "body", reason: "timed-out", statusCode, durationMs: 1 } as const;
    assert.deepEqual(toAttemptResult(timedOutBody), {
      outcome: "failed",
      statusCode,
      error: "body: timed-out",
      snippet: null,
      durationMs: 1,
      retryAfterMs: null,
      gone: false,
      reachability: "unreachable",
    });
  }
});

describe("A request without a response", () => {
  let time = 0;
  const tracker = () => createResponseTracker(() => time);

  test("says nothing about a host that responded to another request meanwhile, with any status", () => {
    for (const response of [delivered, wrongSecret]) {
      const responses = tracker();
      time = 5;
      assert.equal(responses.classify(host, 4, response), response);
      assert.equal(responses.classify(host, 1, timedOut).reachability, "unknown");
      assert.equal(responses.classify(host, 5, timedOut).reachability, "unknown");
    }
  });

  test("counts if the host responded only before it began, or another host, or the recipient has no origin", () => {
    const responses = tracker();
    time = 5;
    responses.classify(host, 4, delivered);
    assert.equal(responses.classify(host, 6, timedOut), timedOut);
    assert.equal(responses.classify("https://other.example", 1, timedOut), timedOut);
    assert.equal(responses.classify(null, 1, timedOut), timedOut);
    assert.equal(responses.classify(null, 1, delivered), delivered);
  });

  test("is classified by the hosts that responded last, of any number of hosts", () => {
    const responses = tracker();
    for (let nth = 0; nth <= 10_000; nth += 1) {
      time = nth;
      responses.classify(`https://${nth}.example`, 0, delivered);
      if (nth === 100) responses.classify("https://0.example", 0, delivered);
    }
    assert.equal(responses.classify("https://0.example", 0, timedOut).reachability, "unknown");
    assert.equal(responses.classify("https://10000.example", 0, timedOut).reachability, "unknown");
    assert.equal(responses.classify("https://1.example", 0, timedOut), timedOut);
  });
});
