import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { activeOrigin, decideOrigin, type OriginDecision, type OriginEvent, type OriginState } from "./origin.ts";
import { failuresToHold } from "./recovery-schedule.ts";

const now = new Date("2026-03-01T12:00:00Z");
const earlier = new Date(now.getTime() - 3_600_000);

const states: Record<string, OriginState> = {
  active: activeOrigin,
  "failing, by A": { ...activeOrigin, consecutiveFailures: 1, failedRecipientId: "A" },
  "last failure, by A": { ...activeOrigin, consecutiveFailures: failuresToHold - 1, failedRecipientId: "A" },
  held: { status: "held", consecutiveFailures: failuresToHold, failedRecipientId: "A", heldSince: earlier, probes: 2 },
};

const events: Record<string, OriginEvent> = {
  responded: { type: "responded", at: now },
  "A unreachable": { type: "unreachable", at: now, recipientId: "A" },
  "B unreachable": { type: "unreachable", at: now, recipientId: "B" },
  "probe failed": { type: "probe-failed", at: now },
  "recovery due": { type: "recovery-due" },
  "nothing to probe": { type: "nothing-to-probe", at: now },
};

function describeDecision(before: OriginState, { state, action }: OriginDecision): string {
  const since = state.heldSince === now ? "now" : "earlier";
  const held = state.status === "held" ? ` since ${since}, ${state.probes} probes` : "";
  const by = state.failedRecipientId === null ? "" : `, last by ${state.failedRecipientId}`;
  const next = before === state ? "unchanged" : `${state.status}${held}, ${state.consecutiveFailures} failures${by}`;
  if (action === undefined) return next;
  if (action.do !== "schedule-recovery") return `${next}; ${action.do}`;
  return `${next}; recovery in ${(action.at.getTime() - now.getTime()) / 1_000} s`;
}

const life = `
active             | responded        | unchanged
active             | A unreachable    | active, 1 failures, last by A
active             | B unreachable    | active, 1 failures, last by B
active             | probe failed     | unchanged
active             | recovery due     | unchanged; release-waiting
active             | nothing to probe | unchanged
failing, by A      | responded        | active, 0 failures
failing, by A      | A unreachable    | unchanged
failing, by A      | B unreachable    | active, 2 failures, last by B
failing, by A      | probe failed     | unchanged
failing, by A      | recovery due     | unchanged; release-waiting
failing, by A      | nothing to probe | unchanged
last failure, by A | responded        | active, 0 failures
last failure, by A | A unreachable    | unchanged
last failure, by A | B unreachable    | held since now, 0 probes, 5 failures, last by B; recovery in 60 s
last failure, by A | probe failed     | unchanged
last failure, by A | recovery due     | unchanged; release-waiting
last failure, by A | nothing to probe | unchanged
held               | responded        | active, 0 failures; recovery in 0 s
held               | A unreachable    | unchanged
held               | B unreachable    | unchanged
held               | probe failed     | held since earlier, 3 probes, 5 failures, last by A; recovery in 60 s
held               | recovery due     | unchanged; send-probe
held               | nothing to probe | active, 0 failures; recovery in 0 s
`;

describe("the life of a callback origin", () => {
  const rows = life
    .trim()
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.trim()));

  test("is described for every state and every event", () => {
    const described = rows.map(([state, event]) => `${state} | ${event}`);
    const all = Object.keys(states).flatMap((state) => Object.keys(events).map((event) => `${state} | ${event}`));
    assert.deepEqual(described.toSorted(), all.toSorted());
  });

  for (const [state = "", event = "", expected] of rows) {
    test(`${state}: ${event} → ${expected}`, () => {
      const before = states[state] ?? assert.fail(`no state ${state}`);
      const happened = events[event] ?? assert.fail(`no event ${event}`);
      assert.equal(describeDecision(before, decideOrigin(before, happened)), expected);
    });
  }
});
