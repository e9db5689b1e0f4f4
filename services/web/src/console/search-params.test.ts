import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  readAuditSearch,
  readNoticesSearch,
  readPageSearch,
  readSubscribedSearch,
  readSubscribeSearch,
  readSubscriptionsSearch,
} from "./search-params.ts";

describe("what a screen reads from its address", () => {
  test("keeps valid values, also those that look like numbers", () => {
    assert.deepEqual(readSubscribeSearch({ plan: "p", quantity: 5, usage: "2.5", practice: "riverside-clinic" }), {
      plan: "p",
      quantity: "5",
      usage: "2.5",
      practice: "riverside-clinic",
    });
    assert.deepEqual(readSubscriptionsSearch({ q: 42, status: "paused" }), { q: "42", status: "paused" });
  });

  test("leaves out what is empty, too long, of another type or unknown", () => {
    assert.deepEqual(readSubscribeSearch({ plan: "", quantity: "12345678901", usage: { a: 1 }, other: "x" }), {});
    assert.deepEqual(readSubscriptionsSearch({ status: "everything", open: ["x"] }), {});
    assert.deepEqual(readSubscribedSearch({}), { practice: "" });
  });

  test("reads days, cursors and filters only as the API has them", () => {
    const search = {
      from: "2026-02-28",
      to: "2026-03-01",
      action: "subscription.pause",
      target: "a-b_1",
      after: "W10",
    };
    assert.deepEqual(readAuditSearch(search), search);
    const wrong = { from: "2026-02-30", to: "0001-01-01", action: "A B", target: "a b", after: "a=" };
    assert.deepEqual(readAuditSearch(wrong), {});
    assert.deepEqual(readNoticesSearch({ unread: true, after: "W10" }), { unread: true, after: "W10" });
    assert.deepEqual(readNoticesSearch({ unread: "yes", after: 5 }), {});
    assert.deepEqual(readPageSearch({ after: "x".repeat(201) }), {});
  });
});
