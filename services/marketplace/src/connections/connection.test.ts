import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ConnectionState, PutConnectionBody } from "@ehr-marketplace/contracts";
import { findInvalidFields, isSameState, msUntilChange, toState, unreported } from "./connection.ts";

const ready: ConnectionState = {
  status: "ready",
  clientId: "quill-at-riverside",
  fhirBaseUrl: "https://ehr.example/fhir/riverside-clinic",
  reason: null,
};

test("a report is stored with what it says, and a blank reason says nothing", () => {
  const cases: [PutConnectionBody, ConnectionState][] = [
    [{ status: "pending" }, unreported],
    [{ status: "pending", clientId: null, fhirBaseUrl: null, reason: null }, unreported],
    [{ status: "pending", reason: " \n" }, unreported],
    [
      { status: "failed", reason: " It is down. " },
      { ...unreported, status: "failed", reason: " It is down. " },
    ],
    [ready, ready],
  ];
  for (const [body, state] of cases) assert.deepEqual(toState(body), state);
});

describe("a report is refused", () => {
  const invalid = (state: ConnectionState, allowsHttp = false): string[] =>
    findInvalidFields(state, { allowsHttp }).map(({ field }) => field);

  test("if it is ready without a client or a FHIR server, or failed without a reason", () => {
    assert.deepEqual(invalid(ready), []);
    assert.deepEqual(invalid(unreported), []);
    assert.deepEqual(invalid({ ...unreported, status: "ready" }), ["clientId", "fhirBaseUrl"]);
    assert.deepEqual(invalid({ ...unreported, status: "failed" }), ["reason"]);
    assert.deepEqual(invalid({ ...ready, status: "failed", reason: "It is down." }), []);
  });

  test("if its URL is plain http, or has more than scheme, host and path", () => {
    for (const fhirBaseUrl of [
      "http://127.0.0.1:8081/fhir",
      "https://user@ehr.example/fhir",
      "https://ehr.example/fhir?a=1",
      "https://ehr.example/fhir#",
      "https://ehr.example:99999/fhir",
    ]) {
      assert.deepEqual(invalid({ ...ready, fhirBaseUrl }), ["fhirBaseUrl"], fhirBaseUrl);
    }
    assert.deepEqual(invalid({ ...ready, fhirBaseUrl: "http://127.0.0.1:8081/fhir" }, true), []);
  });
});

test("states are the same only if all four fields are", () => {
  assert.ok(isSameState(ready, { ...ready }));
  const others = { status: "pending", clientId: "another", fhirBaseUrl: null, reason: "Why" };
  for (const [field, value] of Object.entries(others)) {
    assert.ok(!isSameState(ready, { ...ready, [field]: value }), field);
  }
});

test("the next change is an hour after the thirtieth last one, or now", () => {
  const now = new Date("2026-03-18T09:30:00.000Z");
  const ago = (ms: number): Date => new Date(now.getTime() - ms);
  assert.equal(msUntilChange(null, now), 0);
  assert.equal(msUntilChange(ago(3_600_000), now), 0);
  assert.equal(msUntilChange(ago(3_599_000), now), 1_000);
  assert.equal(msUntilChange(ago(9_000_000), now), 0);
});
