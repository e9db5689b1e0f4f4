import type { SubscriptionDto, SubscriptionState } from "@ehr-marketplace/contracts";
import type { BlockReason, PauseReason, State } from "./subscription.ts";
import type { SubscriptionRow } from "./subscription-store.ts";

const instant = (given: Date | null): string | null => given?.toISOString() ?? null;

export const subscriptionRecord = (row: SubscriptionRow): SubscriptionDto => ({
  ...subscriptionState(row),
  pricingPlan: row.pricing_plan,
});

/** The record without its plan, which never changes, for what is stored: audit entries and responses of idempotency keys. */
export function subscriptionState(row: Omit<SubscriptionRow, "pricing_plan">): SubscriptionState {
  return {
    id: row.id,
    appId: row.app_id,
    appSlug: row.app_slug,
    orgAlias: row.org_alias,
    pricingPlanId: row.pricing_plan_id,
    quantity: row.quantity,
    fhirScopes: row.scopes.inForce,
    pendingScopes: row.status === "cancelled" ? "" : row.scopes.missing,
    status: row.status as SubscriptionState["status"],
    pauseReason: row.pause_reason as PauseReason | null,
    trialEndsAt: instant(row.trial_ends_at),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    pausedAt: instant(row.paused_at),
    cancelledAt: instant(row.cancelled_at),
  };
}

/** The audit log's form of a subscription: its state, plus the block reason and the suspension that has paused it. */
export function auditedState(
  row: Omit<SubscriptionRow, "pricing_plan">,
): SubscriptionState & { blockReason: string | null; suspensionId?: string } {
  const { block_reason: blockReason, suspension_id: suspensionId } = row;
  return { ...subscriptionState(row), blockReason, ...(suspensionId === null ? {} : { suspensionId }) };
}

/** The casts are safe: check constraints allow no other combinations. */
export function stateOf(
  row: Pick<SubscriptionRow, "status" | "block_reason" | "pause_reason" | "suspension_id">,
): State {
  if (row.status === "cancelled") return { status: "cancelled", block: row.block_reason as BlockReason | null };
  if (row.status === "paused")
    return {
      status: "paused",
      reason: row.pause_reason as PauseReason,
      bySuspension: row.suspension_id !== null,
    };
  return { status: "active" };
}

/** No longer paused by a suspension, if it was. */
export function columnsOf(state: State, row: Pick<SubscriptionRow, "cancelled_at" | "paused_at">, at: Date) {
  return {
    status: state.status,
    pause_reason: state.status === "paused" ? state.reason : null,
    paused_at: state.status === "paused" ? (row.paused_at ?? at) : null,
    block_reason: state.status === "cancelled" ? state.block : null,
    cancelled_at: state.status === "cancelled" ? (row.cancelled_at ?? at) : null,
    suspension_id: null,
    updated_at: at,
  };
}
