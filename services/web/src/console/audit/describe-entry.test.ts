import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { AuditEntry } from "@ehr-marketplace/client/marketplace";
import { describeEntry, listChangedApps } from "./describe-entry.ts";

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
const practicePlan = { id: "p", name: "Practice", currency: "USD", unitName: "clinician" };
const solo = { id: "s", name: "Solo", currency: "USD", unitName: null };
const subscriptions = [{ id: "one", appSlug: "northwind-scribe", pricingPlan: practicePlan }];
const known = { subscriptions };
const nothing = { subscriptions: [] };

describe("an entry of the audit log in plain words", () => {
  test("names the app, who did it in which role, and why", () => {
    assert.deepEqual(describeEntry(entry({ after: { pauseReason: "ORG_REQUEST" } }), known), {
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
    const { why, subscriptionId } = describeEntry(report, known);
    assert.deepEqual([why, subscriptionId], ["Installed; can't sign in", "one"]);
  });

  test("of changed terms names plan and units, now and before", () => {
    const changed = entry({
      action: "subscription.change-terms",
      before: { appSlug: "northwind-scribe", pricingPlanId: "s", quantity: null },
      after: { appSlug: "northwind-scribe", pricingPlanId: "p", quantity: 5 },
    });
    const more = { ...changed, before: changed.after, after: { ...changed.after, quantity: 6 } };
    const whyOf = (described: AuditEntry, plans = [solo]) => describeEntry(described, { subscriptions, plans }).why;
    assert.equal(whyOf(changed), "Practice, 5 × clinician. Before: Solo");
    assert.equal(whyOf(more), "Practice, 6 × clinician. Before: Practice, 5 × clinician");
    assert.equal(whyOf(changed, []), "Practice, 5 × clinician");
    assert.equal(describeEntry(changed, nothing).why, undefined);
    assert.deepEqual(listChangedApps([entry({ after: { appSlug: "other" } }), changed, more]), ["northwind-scribe"]);
  });

  test("of a spend limit has the amount and what happens, now and before", () => {
    const [notify, pause] = [
      { amount: 2_500, onReached: "notify" },
      { amount: 1_000, onReached: "pause" },
    ];
    const whyOf = (before: AuditEntry["before"], after: AuditEntry["after"], of = known) =>
      describeEntry(
        entry({ action: `subscription.${after === null ? "remove" : "set"}-spend-limit`, before, after }),
        of,
      ).why;
    assert.equal(whyOf(null, notify), "$25.00 in a month, then a notice");
    assert.equal(
      whyOf(notify, pause),
      "$10.00 in a month, then the app is paused. Before: $25.00 in a month, then a notice",
    );
    assert.equal(whyOf(pause, null), "Before: $10.00 in a month, then the app is paused");
    assert.equal(whyOf(notify, pause, nothing), undefined);
  });

  test("of the practice and of its mails names those", () => {
    const ofPractice = entry({
      action: "organisation.change",
      target: { kind: "organisation", id: "riverside-clinic" },
    });
    assert.deepEqual(
      [describeEntry(ofPractice, nothing).about, describeEntry(ofPractice, nothing).subscriptionId],
      ["Riverside Clinic", undefined],
    );
    const ofMails = entry({
      action: "notice-settings.change",
      target: { kind: "notice-settings", id: "riverside-clinic" },
    });
    assert.equal(describeEntry(ofMails, nothing).about, "Mails about notices");
  });

  test("without known words is shown as it is", () => {
    const unknown = entry({
      action: "a.b",
      target: { kind: "thing", id: "x" },
      actor: { issuer: "i", subject: "s", role: "new-role" },
    });
    assert.deepEqual(describeEntry(unknown, nothing), {
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
    assert.deepEqual(
      [describeEntry(cancelled, nothing).about, describeEntry(cancelled, nothing).why],
      ["old-app", undefined],
    );
  });
});
