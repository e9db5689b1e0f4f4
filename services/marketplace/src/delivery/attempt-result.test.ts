import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { delivered } from "./attempt-result.test-support.ts";
import { type AttemptResult, createResponseTracker, refusalsToFail, toAttemptResult } from "./attempt-result.ts";

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

test("An EHR's refusal of an event that the contract doesn't name fails its delivery at once, or the third time", () => {
  const ofEhr = (event: string, statusCode: number | null): number | undefined =>
    refusalsToFail({ kind: "ehr", event }, { statusCode });
  for (const event of ["subscription.resumed", "subscription.updated", "ping"]) {
    for (const code of [400, 404, 405, 422]) assert.equal(ofEhr(event, code), 1, `${event} ${code}`);
    for (const code of [301, 401, 403, 409, 410, 415, 500, 501])
      assert.equal(ofEhr(event, code), 3, `${event} ${code}`);
    // The request wasn't refused because of its event.
    for (const code of [408, 429, 502, 503, 504, 200, null])
      assert.equal(ofEhr(event, code), undefined, `${event} ${code}`);
    assert.equal(refusalsToFail({ kind: "endpoint", event }, { statusCode: 400 }), undefined);
  }
  for (const event of ["subscription.created", "subscription.cancelled", "subscription.paused", "usage.reported"]) {
    for (const code of [400, 405, 500]) assert.equal(ofEhr(event, code), undefined, `${event} ${code}`);
  }
});
