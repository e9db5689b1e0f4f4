import { failuresToHold, firstPace, maxHeldMs, originProbeDelayMs, probeDelayMs } from "./recovery-schedule.ts";

export type RecipientKind = "endpoint" | "ehr";
export type RecipientStatus = "active" | "held" | "disabled";

/** What decides whether a recipient is sent to: the columns of its row that `decide` may change. */
export interface RecipientState {
  status: RecipientStatus;
  /** Failed attempts since the last success. */
  consecutiveFailures: number;
  /** Set while the status is held or disabled. */
  heldSince: Date | null;
  /** Failed probes since it is held. */
  probes: number;
  disabledAt: Date | null;
  disabledReason: string | null;
}

export type RecipientEvent =
  | { type: "delivery-succeeded"; at: Date; hasCallback: boolean }
  | { type: "delivery-failed"; at: Date; isProbe: boolean; isGone: boolean }
  /** An EHR refused an event that it needn't know, which says nothing about others. */
  | { type: "event-refused"; at: Date; isProbe: boolean }
  /** `originHeld`: nothing is sent to any EHR with the origin of its callback, so the step is postponed. */
  | { type: "recovery-due"; at: Date; hasCallback: boolean; originHeld: boolean }
  /** A probe was due, and no delivery waits that could be one. */
  | { type: "nothing-to-probe" }
  | { type: "enabled"; at: Date }
  | { type: "callback-removed"; at: Date }
  /** The callback of an organisation was added or replaced. */
  | { type: "callback-changed"; at: Date }
  | { type: "deleted"; at: Date }
  /** It was deleted, and nothing is due to it any more. */
  | { type: "drained" };

export type RecoveryAction =
  /** Schedule the next recovery step: a probe while it is held, a release of up to `pace` waiting deliveries otherwise. */
  { do: "schedule-recovery"; at: Date; pace?: number } | { do: "send-probe" } | { do: "release-waiting" };

export interface RecipientDecision {
  /** The same object where nothing changes. */
  state: RecipientState;
  action?: RecoveryAction;
}

/** A recipient without failures. */
export const activeState: RecipientState = {
  status: "active",
  consecutiveFailures: 0,
  heldSince: null,
  probes: 0,
  disabledAt: null,
  disabledReason: null,
};

/** An organisation without callback is held from the start. */
export const initialState = (hasCallback: boolean, at: Date): RecipientState =>
  hasCallback ? activeState : { ...activeState, status: "held", heldSince: at };

const after = (at: Date, waitMs: number): Date => new Date(at.getTime() + waitMs);

const disabled = (state: RecipientState, at: Date, disabledReason: string): RecipientState => ({
  ...state,
  status: "disabled",
  heldSince: state.heldSince ?? at,
  disabledAt: at,
  disabledReason,
});

/** The origin's own recovery starts the steps of its recipients; this one makes sure that none is lost. */
const postponed = ({ status, probes }: RecipientState, at: Date): RecoveryAction =>
  status === "active"
    ? { do: "schedule-recovery", at: after(at, originProbeDelayMs), pace: firstPace }
    : { do: "schedule-recovery", at: after(at, probeDelayMs(probes)) };

/** The life of a recipient: active, held after failures in a row or without callback, disabled (endpoints only). */
export function decide(kind: RecipientKind, state: RecipientState, event: RecipientEvent): RecipientDecision {
  switch (event.type) {
    case "delivery-succeeded": {
      // The callback may have been removed while the request was under way.
      if (
        state.status === "disabled" ||
        (state.consecutiveFailures === 0 && state.status === "active") ||
        !event.hasCallback
      )
        return { state };
      if (state.status === "active") return { state: activeState };
      return { state: activeState, action: { do: "schedule-recovery", at: event.at, pace: firstPace } };
    }
    case "delivery-failed":
      return decideFailure(kind, state, event);
    case "event-refused":
      if (state.status !== "held" || !event.isProbe) return { state };
      return { state, action: { do: "schedule-recovery", at: after(event.at, probeDelayMs(0)) } };
    case "recovery-due": {
      if (state.status === "disabled") return { state };
      if (event.originHeld) return { state, action: postponed(state, event.at) };
      if (state.status === "active") return { state, action: { do: "release-waiting" } };
      const heldMs = event.at.getTime() - (state.heldSince ?? event.at).getTime();
      if (kind === "endpoint" && heldMs > maxHeldMs) {
        return { state: disabled(state, event.at, "it has been failing for five days") };
      }
      return event.hasCallback ? { state, action: { do: "send-probe" } } : { state };
    }
    case "nothing-to-probe":
      return state.status === "held" ? { state: activeState } : { state };
    case "enabled":
      if (state.status === "active") return { state };
      return { state: activeState, action: { do: "schedule-recovery", at: event.at, pace: firstPace } };
    case "callback-removed":
      if (state.status !== "active") return { state };
      return { state: { ...state, status: "held", heldSince: event.at, probes: 0 } };
    case "callback-changed":
      if (state.status === "disabled") return { state };
      // An active one may have deliveries that wait because the origin of its former callback is held.
      return { state, action: { do: "schedule-recovery", at: event.at } };
    case "deleted":
      return { state: disabled(state, event.at, "it was deleted") };
    case "drained":
      return state.status === "disabled" ? { state: activeState } : { state };
  }
}

function decideFailure(
  kind: RecipientKind,
  before: RecipientState,
  event: RecipientEvent & { type: "delivery-failed" },
): RecipientDecision {
  const { at, isProbe } = event;
  const state = {
    ...before,
    consecutiveFailures: before.consecutiveFailures + 1,
    probes: before.probes + (isProbe && before.status === "held" ? 1 : 0),
  };
  if (state.status === "disabled") return { state };
  if (event.isGone && kind === "endpoint") return { state: disabled(state, at, "it answered 410 Gone") };
  if (state.status === "held") {
    if (!isProbe) return { state };
    return { state, action: { do: "schedule-recovery", at: after(at, probeDelayMs(state.probes)) } };
  }
  if (state.consecutiveFailures < failuresToHold) return { state };
  const held: RecipientState = { ...state, status: "held", heldSince: at, probes: 0 };
  return { state: held, action: { do: "schedule-recovery", at: after(at, probeDelayMs(0)) } };
}
