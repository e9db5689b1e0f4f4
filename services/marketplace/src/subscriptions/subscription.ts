import type { SubscriptionEventName } from "@ehr-marketplace/contracts";
import type { Role } from "@ehr-marketplace/service-kit/tokens";

export type PauseReason = "NON_PAYMENT" | "OPERATOR_HOLD" | "SECURITY" | "ORG_REQUEST";
/** The reasons that survive a cancellation: the organisation can't shake them off by subscribing again. */
export type BlockReason = Exclude<PauseReason, "ORG_REQUEST">;

export type State =
  | { status: "active" }
  | { status: "paused"; reason: PauseReason }
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

/** The whole life of a subscription. A repeated command changes nothing, so that whoever is unsure may repeat it. */
export function decide(state: State, command: Command): Decision {
  switch (command.do) {
    case "cancel":
      if (state.status === "cancelled") return unchanged;
      return changed({ status: "cancelled", block: blockLeftBy(state) }, "subscription.cancelled");
    case "pause":
      if (state.status === "cancelled") return refused("cancelled");
      if (state.status === "active") {
        return changed({ status: "paused", reason: command.reason }, "subscription.paused");
      }
      return state.reason === command.reason ? unchanged : refused("paused-for-another-reason");
    case "resume":
      if (state.status === "cancelled") return refused("cancelled");
      return state.status === "active" ? unchanged : changed({ status: "active" }, "subscription.resumed");
    case "lift-block":
      if (state.status !== "cancelled") return refused("not-cancelled");
      return state.block === null ? unchanged : changed({ status: "cancelled", block: null }, null);
  }
}

function blockLeftBy(state: State): BlockReason | null {
  return state.status === "paused" && state.reason !== "ORG_REQUEST" ? state.reason : null;
}

const whoDecidesOn: Record<PauseReason, readonly Role[]> = {
  NON_PAYMENT: ["operator", "billing"],
  OPERATOR_HOLD: ["operator"],
  SECURITY: ["operator"],
  ORG_REQUEST: ["org-admin", "operator"],
};

/** Who may give this command to some subscription or other. */
export const whoEverMay = (command: Command): readonly Role[] => whoMay({ status: "active" }, command);

/** Who may give this command to a subscription in this state. Where it changes nothing, anyone who could ever give it. */
export function whoMay(state: State, command: Command): readonly Role[] {
  switch (command.do) {
    case "cancel":
      return ["org-admin", "operator"];
    case "pause":
      return whoDecidesOn[command.reason];
    case "resume":
      return state.status === "paused" ? whoDecidesOn[state.reason] : ["org-admin", "billing", "operator"];
    case "lift-block":
      return state.status === "cancelled" && state.block !== null ? whoDecidesOn[state.block] : ["billing", "operator"];
  }
}
