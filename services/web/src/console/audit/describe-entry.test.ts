import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { AuditEntry } from "@ehr-marketplace/client/marketplace";
import { describeEntry } from "./describe-entry.ts";

const entry = (changes: Partial<AuditEntry>): AuditEntry => ({
  id: "e",
  at: "2026-11-17T10:00:00.000Z",
  actor: { issuer: "https://idp.example", subject: "rosa", role: "org-admin" },
  onBehalfOf: "riverside-clinic",
  action: "subscription.pause",
  target: { kind: "subscription", id: "one" },
  requestId: "r",
  before: null,
  after: null,
  ...changes,
});
const subscriptions = [{ id: "one", appSlug: "northwind-scribe" }];

describe("an entry of the audit log in plain words", () => {
  test("names the app, who did it in which role, and why", () => {
    assert.deepEqual(describeEntry(entry({ after: { pauseReason: "ORG_REQUEST" } }), subscriptions), {
      what: "Paused",
      why: "By your practice",
      who: "An admin of your practice",
      about: "northwind-scribe",
      subscriptionId: "one",
    });
  });

  test("of a connection says how far it has come, and belongs to the subscription", () => {
    const report = entry({
      action: "connection.report",
      target: { kind: "connection", id: "one" },
      after: { status: "failed" },
    });
    const { why, subscriptionId } = describeEntry(report, subscriptions);
    assert.deepEqual([why, subscriptionId], ["Installed; can't sign in", "one"]);
  });

  test("of the practice and of its mails names those", () => {
    const ofPractice = entry({
      action: "organisation.change",
      target: { kind: "organisation", id: "riverside-clinic" },
    });
    assert.deepEqual(
      [describeEntry(ofPractice, []).about, describeEntry(ofPractice, []).subscriptionId],
      ["Riverside Clinic", undefined],
    );
    const ofMails = entry({
      action: "notice-settings.change",
      target: { kind: "notice-settings", id: "riverside-clinic" },
    });
    assert.equal(describeEntry(ofMails, []).about, "Mails about notices");
  });

  test("without known words is shown as it is", () => {
    const unknown = entry({
      action: "a.b",
      target: { kind: "thing", id: "x" },
      actor: { issuer: "i", subject: "s", role: "new-role" },
    });
    assert.deepEqual(describeEntry(unknown, []), {
      what: "a.b",
      why: undefined,
      who: "New-role",
      about: "x",
      subscriptionId: undefined,
    });
    const cancelled = entry({
      target: { kind: "subscription", id: "gone" },
      after: { appSlug: "old-app", pauseReason: 5 },
    });
    assert.deepEqual([describeEntry(cancelled, []).about, describeEntry(cancelled, []).why], ["old-app", undefined]);
  });
});
