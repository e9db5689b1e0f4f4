import type { SubscriptionDto } from "@ehr-marketplace/client/marketplace";
import { Badge } from "@mantine/core";
import { formatDate } from "../../storefront/format.ts";
import { texts } from "../texts.ts";

type State = Pick<SubscriptionDto, "status" | "pauseReason" | "trialEndsAt">;

/** The state in words: colour only underlines it. */
export function describeState({ status, pauseReason, trialEndsAt }: State, now: Date): string {
  if (status === "paused" && pauseReason !== null) return texts.pausedFor(texts.pauseReasons[pauseReason]);
  if (status === "active" && trialEndsAt !== null && new Date(trialEndsAt) > now) {
    return texts.trialUntil(formatDate(trialEndsAt));
  }
  return texts.status[status];
}

const colors = { active: "positive", paused: "warning", cancelled: "muted" };

export function StateBadge(state: State) {
  return (
    <Badge color={colors[state.status]} variant="light" className="badge">
      {describeState(state, new Date())}
    </Badge>
  );
}
