import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isFiltered, isReversed, toAuditFilters, withFilter } from "./audit-filters.ts";

describe("the filters of the audit log", () => {
  test("a range of days includes the last one, also at the end of a year", () => {
    assert.deepEqual(toAuditFilters({ from: "2026-11-01", to: "2026-12-31" }), {
      from: "2026-11-01T00:00:00.000Z",
      to: "2027-01-01T00:00:00.000Z",
    });
  });

  test("what isn't set isn't sent", () => {
    assert.deepEqual(toAuditFilters({}), {});
    const search = { action: "subscription.pause", target: "id", after: "cursor" };
    assert.deepEqual(toAuditFilters(search), { action: "subscription.pause", targetId: "id", after: "cursor" });
  });

  test("another filter begins at the first page, and an empty one is removed", () => {
    assert.deepEqual(withFilter({ after: "x", from: "2026-11-01" }, "action", "a.b"), {
      from: "2026-11-01",
      action: "a.b",
    });
    assert.deepEqual(withFilter({ after: "x", from: "2026-11-01" }, "from", ""), {});
  });

  test("a range is reversed if it begins after it ends, not if it is one day", () => {
    assert.equal(isReversed({ from: "2026-11-02", to: "2026-11-01" }), true);
    assert.equal(isReversed({ from: "2026-11-01", to: "2026-11-01" }), false);
    assert.equal(isReversed({ from: "2026-11-02" }), false);
  });

  test("a page alone is no filter", () => {
    assert.equal(isFiltered({ after: "x" }), false);
    assert.equal(isFiltered({ to: "2026-11-01" }), true);
  });
});
