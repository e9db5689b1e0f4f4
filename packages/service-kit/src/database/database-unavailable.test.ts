import assert from "node:assert/strict";
import { test } from "node:test";
import { isDatabaseUnavailable } from "./database-unavailable.ts";

const withCode = (code: string, message = "something"): Error => Object.assign(new Error(message), { code });

for (const code of [
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
]) {
  test(`${code}: a network error`, () => assert.ok(isDatabaseUnavailable(withCode(code))));
}

for (const [code, why] of [
  ["08006", "the connection failed"],
  ["53300", "too many connections"],
  ["53100", "its disk is full"],
  ["57014", "the statement took too long"],
  ["57P01", "it is being shut down"],
  ["57P02", "it crashed"],
  ["57P03", "it is starting up"],
  ["57P05", "the session was idle for too long"],
  ["25006", "it is read-only after a failover"],
] as const) {
  test(`${code}: ${why}`, () => assert.ok(isDatabaseUnavailable(withCode(code))));
}

for (const message of [
  "timeout exceeded when trying to connect",
  "Connection terminated unexpectedly",
  "Connection terminated due to connection timeout",
  "Query read timeout",
  "Client has encountered a connection error and is not queryable",
]) {
  test(`"${message}": a driver error without a code`, () => assert.ok(isDatabaseUnavailable(new Error(message))));
}

test("recognises an AggregateError with one matching error", () => {
  assert.ok(isDatabaseUnavailable(new AggregateError([new Error("other"), withCode("ECONNREFUSED")])));
  assert.equal(isDatabaseUnavailable(new AggregateError([new Error("other")])), false);
});

for (const code of ["23505", "42P01", "22P02", "40001", "25P02", "28P01", "XX000", "570140", "ENOENT"]) {
  test(`${code} is a different error`, () => assert.equal(isDatabaseUnavailable(withCode(code)), false));
}

test("is false for values without a code, and for values that are no errors", () => {
  const others = [undefined, null, "ECONNREFUSED", 57_014, { code: "ECONNREFUSED" }, new Error("other"), {}];
  for (const other of others) assert.equal(isDatabaseUnavailable(other), false);
  assert.equal(isDatabaseUnavailable(Object.assign(new Error("x"), { code: 57_014 })), false);
});
