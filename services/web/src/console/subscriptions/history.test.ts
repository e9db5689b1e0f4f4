import assert from "node:assert/strict";
import { test } from "node:test";
import { readHistory } from "./history.ts";

const entry = (id: string, action: string) => ({
  id,
  at: "2026-11-17T10:00:00.000Z",
  actor: { issuer: "https://idp.example", subject: "rosa", role: "org-admin" },
  onBehalfOf: "riverside-clinic",
  action,
  target: { kind: "subscription", id: "one" },
  requestId: "r",
  before: null,
  after: null,
});

test("the history of a subscription is in plain words, without what has none", () => {
  const entries = [
    entry("3", "subscription.pause"),
    entry("1", "subscription.create"),
    entry("0", "subscription.something-new"),
  ];
  assert.deepEqual(
    readHistory(entries).map(({ key, text, actor }) => [key, text, actor]),
    [
      ["3", "Paused", "an admin of your practice"],
      ["1", "Subscribed", "an admin of your practice"],
    ],
  );
});
