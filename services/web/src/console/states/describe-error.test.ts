import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ApiError } from "@ehr-marketplace/client/errors";
import { texts } from "../texts.ts";
import { describeError, isNotFound } from "./describe-error.ts";

const { titles, advice, codes } = texts.error;
const marketplace = "https://example.com/bff/marketplace/subscriptions";
const ehr = "https://example.com/bff/ehr/installations";

describe("a refusal with a known code", () => {
  const known = [
    "subscription-blocked",
    "already-subscribed",
    "app-suspended",
    "spend-limit-reached",
    "limit-below-cost",
    "scopes-changed",
    "baa-changed",
    "too-many-confirmations",
    "subscription-changed-too-often",
    "subscription-created-too-often",
    "session-required",
    "session-changed",
    "forbidden",
    "unknown-organisation",
    "sandbox-organisation",
    "subscription-cancelled",
    "paused-for-another-reason",
    "unknown-plan",
  ];

  for (const code of known) {
    test(`says what to do about ${code}, not what the API says`, () => {
      const error = new ApiError("The `field` is wrong.", { status: 409, code, title: "Conflict", requestId: "r1" });
      const described = describeError(error);
      assert.deepEqual(described, { ...codes[code], detail: undefined, requestId: "r1" });
      assert.notEqual(described.title, titles.conflict);
      assert.ok(described.advice !== "" && described.title !== "Conflict");
    });
  }

  test("speaks of practices, as people do", () => {
    assert.doesNotMatch(JSON.stringify(codes), /: ?"[^"]*organisation[^"]*"/i);
  });

  test("has a test for each code", () => {
    assert.deepEqual(Object.keys(codes), known);
  });
});

describe("another error", () => {
  const describeStatus = (status: number, changes: { code?: string; url?: string } = {}) =>
    describeError(new ApiError("Detail.", { status, requestId: "r1", ...changes }));

  for (const [status, kind] of [
    [401, "refused"],
    [403, "refused"],
    [404, "notFound"],
    [409, "conflict"],
    [410, "notFound"],
    [422, "invalid"],
    [429, "tooMany"],
    [500, "failed"],
  ] as const) {
    test(`of the status ${status} has the API's details, and our advice`, () => {
      assert.deepEqual(describeStatus(status, { code: "toString" }), {
        title: titles[kind],
        detail: "Detail.",
        advice: advice[kind],
        requestId: "r1",
      });
    });
  }

  for (const [name, changes, kind] of [
    ["the EHR", { code: "upstream-unavailable", url: ehr }, "ehrUnavailable"],
    ["the marketplace", { code: "upstream-unavailable", url: marketplace }, "marketplaceUnavailable"],
    ["the web itself", { code: "database-unavailable", url: marketplace }, "unavailable"],
    ["the identity provider", { code: "sign-in-unavailable", url: marketplace }, "signInUnavailable"],
  ] as const) {
    test(`is an outage of ${name}, in our words`, () => {
      const described = describeStatus(503, changes);
      assert.deepEqual([described.title, described.detail, described.advice], [titles[kind], undefined, advice[kind]]);
    });
  }

  test("is a connection that is lost, or a mistake of ours", () => {
    assert.equal(describeStatus(0, { code: "unreachable" }).title, titles.unreachable);
    assert.equal(describeError(new TypeError("x is undefined")).title, titles.failed);
    assert.equal(describeError(new TypeError("x is undefined")).detail, undefined);
  });
});

test("only a 404 is something that isn't there", () => {
  assert.ok(isNotFound(new ApiError("", { status: 404 })));
  assert.ok(!isNotFound(new ApiError("", { status: 410 })) && !isNotFound(new Error("404")) && !isNotFound(null));
});
