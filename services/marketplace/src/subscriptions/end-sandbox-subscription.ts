import type { SubscriptionDto } from "@ehr-marketplace/contracts";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import type { VendorContext } from "../access/vendor-context.ts";
import type { DB } from "../database-schema.ts";
import { applyChange, requireChangeAllowed } from "./change-subscription.ts";
import { addMissingScopes, subscriptionNotFound } from "./read-subscriptions.ts";
import { type Command, decide } from "./subscription.ts";
import { stateOf, subscriptionState } from "./subscription-record.ts";
import { lockSubscription } from "./subscription-store.ts";

const command: Command = { do: "cancel" };

/** Cancels the subscription of a sandbox organisation for the vendor that it was given to. A cancelled one stays as it is. */
export async function endSandboxSubscription(
  transaction: Transaction<DB>,
  queue: Queue,
  { by, id, now }: { by: VendorContext; id: string; now: Date },
): Promise<SubscriptionDto> {
  const locked = await lockSubscription(transaction, id);
  if (locked === undefined) throw subscriptionNotFound();
  const decision = decide(stateOf(locked.row), command);
  let state = subscriptionState(locked.row);
  if (decision.outcome === "changed") {
    await requireChangeAllowed(transaction, by, locked, now);
    state = await applyChange(transaction, queue, { by, role: by.role, locked, command, decision, now });
  }
  return { ...(await addMissingScopes(transaction, state)), pricingPlan: locked.row.pricing_plan };
}
