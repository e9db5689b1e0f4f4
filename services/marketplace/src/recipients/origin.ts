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
  /** Connection refused or broken, time-out, or 502, 503 or 504. The attempt was neither a probe of the origin nor of its recipient. */
  | { type: "unreachable"; at: Date; recipientId: string }
  /** A probe of the origin failed: it got no response, or says nothing about the host, such as with an invalid certificate. */
  | { type: "probe-failed"; at: Date }
  | { type: "recovery-due" }
  /** A probe was due, and no delivery waits that could be one. */
  | { type: "nothing-to-probe"; at: Date };

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

const scheduleProbe = (at: Date): RecoveryAction => ({
  do: "schedule-recovery",
  at: new Date(at.getTime() + originProbeDelayMs),
});

/** The life of a callback origin: active, or held after failures in a row of several practices. */
export function decideOrigin(state: OriginState, event: OriginEvent): OriginDecision {
  const isHeld = state.status === "held";
  switch (event.type) {
    case "responded":
      if (isHeld) return { state: activeOrigin, action: { do: "schedule-recovery", at: event.at } };
      return { state: state.consecutiveFailures === 0 ? state : activeOrigin };
    case "unreachable": {
      const { at, recipientId } = event;
      if (isHeld || recipientId === state.failedRecipientId) return { state };
      const counted: OriginState = {
        ...state,
        consecutiveFailures: state.consecutiveFailures + 1,
        failedRecipientId: recipientId,
      };
      if (counted.consecutiveFailures < failuresToHold) return { state: counted };
      return { state: { ...counted, status: "held", heldSince: at }, action: scheduleProbe(at) };
    }
    case "probe-failed":
      if (!isHeld) return { state };
      return { state: { ...state, probes: state.probes + 1 }, action: scheduleProbe(event.at) };
    case "recovery-due":
      return { state, action: { do: isHeld ? "send-probe" : "release-waiting" } };
    case "nothing-to-probe":
      return isHeld ? { state: activeOrigin, action: { do: "schedule-recovery", at: event.at } } : { state };
  }
}
