import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { countUnread, describeNotice } from "./describe-notice.ts";

const id = "0190a5d2-ac96-774b-bcce-b302099a8057";

const subject = "Something has happened";

describe("a notice in plain words", () => {
  test("names none of the API's fields, and leads to the subscription", () => {
    const detail = "Read `pendingScopes`, and agree to them or not.";
    const described = describeNotice({
      kind: "scopes-pending",
      subject,
      detail,
      link: `/practice/a/subscriptions?open=${id}`,
    });
    assert.ok(!described.text.includes("pendingScopes"));
    assert.equal(described.subscriptionId, id);
    assert.equal(described.goTo, "See what is added");
  });

  test("keeps the details that have amounts", () => {
    const link = `/practice/a/subscriptions?open=${id}`;
    const described = describeNotice({ kind: "spend-limit", subject, detail: "At 100 % it is paused.", link });
    assert.deepEqual([described.text, described.subscriptionId], ["At 100 % it is paused.", id]);
  });

  test("of a spend limit, names month and practice as people do", () => {
    const given = {
      kind: "spend-limit",
      subject: "Fax 2 (new) has reached 80 % of its limit: 8.00 of 10.00 USD in 2026-11 (riverside-clinic)",
      detail: "",
      link: null,
    } as const;
    const spent = "Fax 2 (new) has reached 80 % of its limit: 8.00 of 10.00 USD";
    assert.equal(describeNotice(given).subject, `${spent} in November 2026 (UTC), Riverside Clinic`);
    assert.equal(describeNotice({ ...given, kind: "app-suspended" }).subject, given.subject);
    assert.equal(describeNotice({ ...given, subject }).subject, subject);
  });

  test("of a kind that the console doesn't know, has its own details and leads nowhere else", () => {
    for (const link of [null, "/vendor/x", `/practice/a/subscriptions?open=${id}x`, "javascript:alert(1)"]) {
      assert.deepEqual(describeNotice({ kind: "review-due", subject, detail: "Details", link }), {
        subject,
        text: "Details",
        subscriptionId: undefined,
        goTo: "Show what it is about",
      });
    }
  });

  test("is counted as far as notices are read", () => {
    assert.equal(countUnread({ items: [], next: null }), "");
    assert.equal(countUnread({ items: [1, 2], next: null }), "2");
    assert.equal(countUnread({ items: [1, 2], next: "x" }), "2+");
  });
});
