import type { SubscriptionDto } from "@ehr-marketplace/client/marketplace";

type PauseReason = SubscriptionDto["pauseReason"];
type OwnReason = "ORG_REQUEST" | "SPEND_LIMIT" | null;

/** Whether an admin of the practice may lift a pause. Who cancels during another one can't subscribe until the marketplace allows it. */
export const isOwnPause = (reason: PauseReason): reason is OwnReason =>
  reason === null || reason === "ORG_REQUEST" || reason === "SPEND_LIMIT";
