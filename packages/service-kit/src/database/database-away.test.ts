import assert from "node:assert/strict";
import { test } from "node:test";
import { isDatabaseAway } from "./database-away.ts";

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
  test(`${code}: the network doesn't lead to the database`, () => assert.ok(isDatabaseAway(withCode(code))));
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
  test(`${code}: ${why}`, () => assert.ok(isDatabaseAway(withCode(code))));
}

for (const message of [
  "timeout exceeded when trying to connect",
  "Connection terminated unexpectedly",
  "Connection terminated due to connection timeout",
  "Query read timeout",
  "Client has encountered a connection error and is not queryable",
]) {
  test(`"${message}": the driver says so without a code`, () => assert.ok(isDatabaseAway(new Error(message))));
}

test("one of several attempts that all failed is enough", () => {
  assert.ok(isDatabaseAway(new AggregateError([new Error("other"), withCode("ECONNREFUSED")])));
  assert.equal(isDatabaseAway(new AggregateError([new Error("other")])), false);
});

for (const code of ["23505", "42P01", "22P02", "40001", "25P02", "28P01", "XX000", "570140", "ENOENT"]) {
  test(`${code} is another trouble`, () => assert.equal(isDatabaseAway(withCode(code)), false));
}

test("what is no error, or has no code, is another trouble", () => {
  const others = [undefined, null, "ECONNREFUSED", 57_014, { code: "ECONNREFUSED" }, new Error("other"), {}];
  for (const other of others) assert.equal(isDatabaseAway(other), false);
  assert.equal(isDatabaseAway(Object.assign(new Error("x"), { code: 57_014 })), false);
});
