import type { SubscriptionEventName } from "@ehr-marketplace/contracts";
import type { Role } from "@ehr-marketplace/service-kit/tokens";

/** SPEND_LIMIT: by the marketplace, at the limit that the organisation has set. */
export type PauseReason = "NON_PAYMENT" | "OPERATOR_HOLD" | "SECURITY" | "ORG_REQUEST" | "SPEND_LIMIT";
/** Pause reasons that block a new subscription after a cancellation. */
export type BlockReason = Exclude<PauseReason, "ORG_REQUEST" | "SPEND_LIMIT">;

export type State =
  | { status: "active" }
  /** `bySuspension`: a suspension of the app has paused it, and will resume it. */
  | { status: "paused"; reason: PauseReason; bySuspension?: boolean }
  | { status: "cancelled"; block: BlockReason | null };

export type Command = { do: "cancel" } | { do: "pause"; reason: PauseReason } | { do: "resume" } | { do: "lift-block" };

export type Refusal = "cancelled" | "paused-for-another-reason" | "not-cancelled";

export type Decision =
  | { outcome: "changed"; state: State; event: SubscriptionEventName | null }
  | { outcome: "unchanged" }
  | { outcome: "refused"; because: Refusal };

const unchanged: Decision = { outcome: "unchanged" };
const refused = (because: Refusal): Decision => ({ outcome: "refused", because });
const changed = (state: State, event: SubscriptionEventName | null): Decision => ({ outcome: "changed", state, event });

/** The state machine of a subscription. Commands are idempotent: a repeated one changes nothing. */
export function decide(state: State, command: Command): Decision {
  switch (command.do) {
    case "cancel":
      if (state.status === "cancelled") return unchanged;
      return changed({ status: "cancelled", block: blockAfterCancellation(state) }, "subscription.cancelled");
    case "pause":
      if (state.status === "cancelled") return refused("cancelled");
      if (state.status === "active") {
        return changed({ status: "paused", reason: command.reason }, "subscription.paused");
      }
      if (state.reason !== command.reason) return refused("paused-for-another-reason");
      // The command's pause stays when the suspension ends.
      return state.bySuspension ? changed({ status: "paused", reason: command.reason }, null) : unchanged;
    case "resume":
      if (state.status === "cancelled") return refused("cancelled");
      return state.status === "active" ? unchanged : changed({ status: "active" }, "subscription.resumed");
    case "lift-block":
      if (state.status !== "cancelled") return refused("not-cancelled");
      return state.block === null ? unchanged : changed({ status: "cancelled", block: null }, null);
  }
}

function blockAfterCancellation(state: State): BlockReason | null {
  if (state.status !== "paused" || state.reason === "ORG_REQUEST" || state.reason === "SPEND_LIMIT") return null;
  return state.reason;
}

const rolesByPauseReason: Record<PauseReason, readonly Role[]> = {
  NON_PAYMENT: ["operator", "billing"],
  OPERATOR_HOLD: ["operator"],
  SECURITY: ["operator"],
  ORG_REQUEST: ["org-admin", "operator"],
  SPEND_LIMIT: ["org-admin", "operator"],
};

/** Roles that may give this command in at least one state. */
export const rolesForCommand = (command: Command): readonly Role[] =>
  rolesForCommandInState({ status: "active" }, command);

/** Roles that may give this command in this state. If it changes nothing: all roles that may give it in any state. */
export function rolesForCommandInState(state: State, command: Command): readonly Role[] {
  switch (command.do) {
    case "cancel":
      return ["org-admin", "operator"];
    case "pause":
      return rolesByPauseReason[command.reason];
    case "resume":
      return state.status === "paused" ? rolesByPauseReason[state.reason] : ["org-admin", "billing", "operator"];
    case "lift-block":
      return state.status === "cancelled" && state.block !== null
        ? rolesByPauseReason[state.block]
        : ["billing", "operator"];
  }
}
