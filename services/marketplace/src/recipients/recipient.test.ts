import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  activeState,
  decide,
  initialState,
  type RecipientDecision,
  type RecipientEvent,
  type RecipientKind,
  type RecipientState,
} from "./recipient.ts";
import { failuresToHold, firstPace, maxHeldMs, probeDelayMs } from "./recovery-schedule.ts";

const now = new Date("2026-03-01T12:00:00Z");
const earlier = new Date(now.getTime() - 3_600_000);
const longAgo = new Date(now.getTime() - maxHeldMs - 1);

const held: RecipientState = { ...activeState, status: "held", consecutiveFailures: 7, heldSince: earlier, probes: 2 };
const disabled: RecipientState = {
  ...held,
  status: "disabled",
  disabledAt: earlier,
  disabledReason: "it answered 410 Gone",
};
const states: Record<string, RecipientState> = {
  active: activeState,
  "active, failing": { ...activeState, consecutiveFailures: 1 },
  "active, last failure": { ...activeState, consecutiveFailures: failuresToHold - 1 },
  held,
  "held for long": { ...held, heldSince: longAgo },
  disabled,
};

const failed = (given: Partial<RecipientEvent & { type: "delivery-failed" }>): RecipientEvent => ({
  type: "delivery-failed",
  at: now,
  isProbe: false,
  isGone: false,
  ...given,
});
const events: Record<string, RecipientEvent> = {
  succeeded: { type: "delivery-succeeded", at: now, hasCallback: true },
  "succeeded, no callback": { type: "delivery-succeeded", at: now, hasCallback: false },
  failed: failed({}),
  "probe failed": failed({ isProbe: true }),
  gone: failed({ isGone: true }),
  "probe gone": failed({ isProbe: true, isGone: true }),
  refused: { type: "event-refused", at: now, isProbe: false },
  "probe refused": { type: "event-refused", at: now, isProbe: true },
  "recovery due": { type: "recovery-due", at: now, hasCallback: true, originHeld: false },
  "recovery due, no callback": { type: "recovery-due", at: now, hasCallback: false, originHeld: false },
  "recovery due, origin held": { type: "recovery-due", at: now, hasCallback: true, originHeld: true },
  "nothing to probe": { type: "nothing-to-probe" },
  enabled: { type: "enabled", at: now },
  "callback removed": { type: "callback-removed", at: now },
  "callback changed": { type: "callback-changed", at: now },
  deleted: { type: "deleted", at: now },
  drained: { type: "drained" },
};

const timeName = (at: Date | null): string => {
  if (at === null) return "never";
  const names = new Map([
    [now.getTime(), "now"],
    [earlier.getTime(), "earlier"],
    [longAgo.getTime(), "long ago"],
  ]);
  return names.get(at.getTime()) ?? `in ${(at.getTime() - now.getTime()) / 60_000} min`;
};

function describeState(before: RecipientState, state: RecipientState): string {
  if (before === state) return "unchanged";
  const since = state.status === "held" ? ` since ${timeName(state.heldSince)}, ${state.probes} probes` : "";
  const why = state.status === "disabled" ? ` ${timeName(state.disabledAt)}: ${state.disabledReason}` : "";
  return `${state.status}${since}${why}, ${state.consecutiveFailures} failures`;
}

function describeDecision(before: RecipientState, { state, action }: RecipientDecision): string {
  const next = describeState(before, state);
  if (action === undefined) return next;
  if (action.do !== "schedule-recovery") return `${next}; ${action.do}`;
  return `${next}; recovery ${timeName(action.at)}${action.pace === firstPace ? " at first pace" : ""}`;
}

// State | event | decision for an endpoint | decision for an EHR, where it is another
const life = `
active               | succeeded                 | unchanged
active               | succeeded, no callback    | unchanged
active               | failed                    | active, 1 failures
active               | probe failed              | active, 1 failures
active               | gone                      | disabled now: it answered 410 Gone, 1 failures | active, 1 failures
active               | probe gone                | disabled now: it answered 410 Gone, 1 failures | active, 1 failures
active               | refused                   | unchanged
active               | probe refused             | unchanged
active               | recovery due              | unchanged; release-waiting
active               | recovery due, no callback | unchanged; release-waiting
active               | recovery due, origin held | unchanged; recovery in 1 min at first pace
active               | nothing to probe          | unchanged
active               | enabled                   | unchanged
active               | callback removed          | held since now, 0 probes, 0 failures
active               | callback changed          | unchanged; recovery now
active               | deleted                   | disabled now: it was deleted, 0 failures
active               | drained                   | unchanged
active, failing      | succeeded                 | active, 0 failures
active, failing      | succeeded, no callback    | unchanged
active, failing      | failed                    | active, 2 failures
active, failing      | probe failed              | active, 2 failures
active, failing      | gone                      | disabled now: it answered 410 Gone, 2 failures | active, 2 failures
active, failing      | probe gone                | disabled now: it answered 410 Gone, 2 failures | active, 2 failures
active, failing      | refused                   | unchanged
active, failing      | probe refused             | unchanged
active, failing      | recovery due              | unchanged; release-waiting
active, failing      | recovery due, no callback | unchanged; release-waiting
active, failing      | recovery due, origin held | unchanged; recovery in 1 min at first pace
active, failing      | nothing to probe          | unchanged
active, failing      | enabled                   | unchanged
active, failing      | callback removed          | held since now, 0 probes, 1 failures
active, failing      | callback changed          | unchanged; recovery now
active, failing      | deleted                   | disabled now: it was deleted, 1 failures
active, failing      | drained                   | unchanged
active, last failure | succeeded                 | active, 0 failures
active, last failure | succeeded, no callback    | unchanged
active, last failure | failed                    | held since now, 0 probes, 5 failures; recovery in 1 min
active, last failure | probe failed              | held since now, 0 probes, 5 failures; recovery in 1 min
active, last failure | gone                      | disabled now: it answered 410 Gone, 5 failures | held since now, 0 probes, 5 failures; recovery in 1 min
active, last failure | probe gone                | disabled now: it answered 410 Gone, 5 failures | held since now, 0 probes, 5 failures; recovery in 1 min
active, last failure | refused                   | unchanged
active, last failure | probe refused             | unchanged
active, last failure | recovery due              | unchanged; release-waiting
active, last failure | recovery due, no callback | unchanged; release-waiting
active, last failure | recovery due, origin held | unchanged; recovery in 1 min at first pace
active, last failure | nothing to probe          | unchanged
active, last failure | enabled                   | unchanged
active, last failure | callback removed          | held since now, 0 probes, 4 failures
active, last failure | callback changed          | unchanged; recovery now
active, last failure | deleted                   | disabled now: it was deleted, 4 failures
active, last failure | drained                   | unchanged
held                 | succeeded                 | active, 0 failures; recovery now at first pace
held                 | succeeded, no callback    | unchanged
held                 | failed                    | held since earlier, 2 probes, 8 failures
held                 | probe failed              | held since earlier, 3 probes, 8 failures; recovery in 8 min
held                 | gone                      | disabled now: it answered 410 Gone, 8 failures | held since earlier, 2 probes, 8 failures
held                 | probe gone                | disabled now: it answered 410 Gone, 8 failures | held since earlier, 3 probes, 8 failures; recovery in 8 min
held                 | refused                   | unchanged
held                 | probe refused             | unchanged; recovery in 1 min
held                 | recovery due              | unchanged; send-probe
held                 | recovery due, no callback | unchanged
held                 | recovery due, origin held | unchanged; recovery in 4 min
held                 | nothing to probe          | active, 0 failures
held                 | enabled                   | active, 0 failures; recovery now at first pace
held                 | callback removed          | unchanged
held                 | callback changed          | unchanged; recovery now
held                 | deleted                   | disabled now: it was deleted, 7 failures
held                 | drained                   | unchanged
held for long        | succeeded                 | active, 0 failures; recovery now at first pace
held for long        | succeeded, no callback    | unchanged
held for long        | failed                    | held since long ago, 2 probes, 8 failures
held for long        | probe failed              | held since long ago, 3 probes, 8 failures; recovery in 8 min
held for long        | gone                      | disabled now: it answered 410 Gone, 8 failures | held since long ago, 2 probes, 8 failures
held for long        | probe gone                | disabled now: it answered 410 Gone, 8 failures | held since long ago, 3 probes, 8 failures; recovery in 8 min
held for long        | refused                   | unchanged
held for long        | probe refused             | unchanged; recovery in 1 min
held for long        | recovery due              | disabled now: it has been failing for five days, 7 failures | unchanged; send-probe
held for long        | recovery due, no callback | disabled now: it has been failing for five days, 7 failures | unchanged
held for long        | recovery due, origin held | unchanged; recovery in 4 min
held for long        | nothing to probe          | active, 0 failures
held for long        | enabled                   | active, 0 failures; recovery now at first pace
held for long        | callback removed          | unchanged
held for long        | callback changed          | unchanged; recovery now
held for long        | deleted                   | disabled now: it was deleted, 7 failures
held for long        | drained                   | unchanged
disabled             | succeeded                 | unchanged
disabled             | succeeded, no callback    | unchanged
disabled             | failed                    | disabled earlier: it answered 410 Gone, 8 failures
disabled             | probe failed              | disabled earlier: it answered 410 Gone, 8 failures
disabled             | gone                      | disabled earlier: it answered 410 Gone, 8 failures
disabled             | probe gone                | disabled earlier: it answered 410 Gone, 8 failures
disabled             | refused                   | unchanged
disabled             | probe refused             | unchanged
disabled             | recovery due              | unchanged
disabled             | recovery due, no callback | unchanged
disabled             | recovery due, origin held | unchanged
disabled             | nothing to probe          | unchanged
disabled             | enabled                   | active, 0 failures; recovery now at first pace
disabled             | callback removed          | unchanged
disabled             | callback changed          | unchanged
disabled             | deleted                   | disabled now: it was deleted, 7 failures
disabled             | drained                   | active, 0 failures
`;

interface Row {
  state: string;
  event: string;
  expected: Record<RecipientKind, string>;
}

const rows: Row[] = life
  .trim()
  .split("\n")
  .map((line) => {
    const [state = "", event = "", endpoint = "", ehr = endpoint] = line.split("|").map((cell) => cell.trim());
    return { state, event, expected: { endpoint, ehr } };
  });

describe("the life of a recipient", () => {
  test("is described for every state and every event", () => {
    const described = rows.map(({ state, event }) => `${state} | ${event}`);
    const all = Object.keys(states).flatMap((state) => Object.keys(events).map((event) => `${state} | ${event}`));
    assert.deepEqual(described.toSorted(), all.toSorted());
  });

  for (const { state, event, expected } of rows) {
    for (const kind of ["endpoint", "ehr"] as const) {
      if (kind === "ehr" && state === "disabled") continue;
      test(`${kind}, ${state}: ${event} → ${expected[kind]}`, () => {
        const before = states[state] ?? assert.fail(`no state ${state}`);
        const happened = events[event] ?? assert.fail(`no event ${event}`);
        assert.equal(describeDecision(before, decide(kind, before, happened)), expected[kind]);
      });
    }
  }

  test("starts active with an address and held without one", () => {
    assert.equal(initialState(true, now), activeState);
    assert.deepEqual(initialState(false, now), { ...activeState, status: "held", heldSince: now });
  });

  test("waits twice as long after each failed probe, up to 15 minutes", () => {
    const minutes = [0, 1, 2, 3, 4, 20].map((probes) => probeDelayMs(probes) / 60_000);
    assert.deepEqual(minutes, [1, 2, 4, 8, 15, 15]);
  });

  test("never disables an EHR and never sends to a disabled endpoint", () => {
    for (const event of Object.values(events)) {
      for (const state of Object.values(states)) {
        if (state.status !== "disabled" && event.type !== "deleted") {
          assert.notEqual(decide("ehr", state, event).state.status, "disabled");
        }
        if (state.status === "disabled" && event.type !== "enabled") {
          assert.equal(decide("endpoint", state, event).action, undefined);
        }
      }
    }
  });

  test("keeps the invariants of its row: held and disabled have a time, disabled has a reason", () => {
    for (const event of Object.values(events)) {
      for (const before of Object.values(states)) {
        const { state } = decide("endpoint", before, event);
        assert.equal(state.heldSince === null, state.status === "active");
        assert.equal(state.disabledAt === null, state.status !== "disabled");
        assert.equal(state.disabledReason === null, state.status !== "disabled");
      }
    }
  });
});
