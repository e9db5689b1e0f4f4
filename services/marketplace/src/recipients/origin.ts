import type { RecoveryAction } from "./recipient.ts";
import { failuresToHold, originProbeDelayMs } from "./recovery-schedule.ts";

/** The state of a callback origin, which the EHRs of all practices on one host share. */
export interface OriginState {
  status: "active" | "held";
  /** Failures since the last response, see `failedRecipientId`. */
  consecutiveFailures: number;
  /** The recipient whose failure was counted last. Its next failure isn't counted: one practice can't hold the others of its host. */
  failedRecipientId: string | null;
  /** Set while the status is held. */
  heldSince: Date | null;
  /** Failed probes since it is held. */
  probes: number;
}

export type OriginEvent =
  /** The host responded, with any status except 502, 503 and 504. */
  | { type: "responded"; at: Date }
  /** Connection refused or broken, time-out, or 502, 503 or 504. */
  | { type: "unreachable"; at: Date; recipientId: string; isProbe: boolean }
  /** A probe failed for a reason that says nothing about the host, such as a certificate. */
  | { type: "probe-inconclusive"; at: Date }
  | { type: "recovery-due" }
  /** A probe was due, and no delivery waits that could be one. */
  | { type: "nothing-to-probe" };

export interface OriginDecision {
  /** The same object where nothing changes. */
  state: OriginState;
  action?: RecoveryAction;
}

/** An origin without failures. */
export const activeOrigin: OriginState = {
  status: "active",
  consecutiveFailures: 0,
  failedRecipientId: null,
  heldSince: null,
  probes: 0,
};

const planProbe = (at: Date): RecoveryAction => ({
  do: "plan-recovery",
  at: new Date(at.getTime() + originProbeDelayMs),
});

/** The life of a callback origin: active, or held after failures in a row of several practices. */
export function decideOrigin(state: OriginState, event: OriginEvent): OriginDecision {
  const isHeld = state.status === "held";
  switch (event.type) {
    case "responded":
      if (isHeld) return { state: activeOrigin, action: { do: "plan-recovery", at: event.at } };
      return { state: state.consecutiveFailures === 0 ? state : activeOrigin };
    case "unreachable": {
      const { at, recipientId } = event;
      if (isHeld) return event.isProbe ? failProbe(state, at) : { state };
      if (recipientId === state.failedRecipientId) return { state };
      const counted: OriginState = {
        ...state,
        consecutiveFailures: state.consecutiveFailures + 1,
        failedRecipientId: recipientId,
      };
      if (counted.consecutiveFailures < failuresToHold) return { state: counted };
      return { state: { ...counted, status: "held", heldSince: at }, action: planProbe(at) };
    }
    case "probe-inconclusive":
      return isHeld ? failProbe(state, event.at) : { state };
    case "recovery-due":
      return { state, action: { do: isHeld ? "send-probe" : "release-waiting" } };
    case "nothing-to-probe":
      return { state: isHeld ? activeOrigin : state };
  }
}

const failProbe = (state: OriginState, at: Date): OriginDecision => ({
  state: { ...state, probes: state.probes + 1 },
  action: planProbe(at),
});
