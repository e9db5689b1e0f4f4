import type { EventApp, PricingPlanDto, SubscriptionDto } from "@ehr-marketplace/contracts";
import type { Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { deferAccountLock } from "./account-store.ts";
import { subscriptionNotFound } from "./read-subscriptions.ts";
import { lockSubscription } from "./subscription-store.ts";

/** A subscription in any state, as far as its usage depends on it. */
export interface LockedForUsage {
  id: string;
  status: SubscriptionDto["status"];
  orgAlias: string;
  createdAt: Date;
  plan: PricingPlanDto;
  app: EventApp;
  vendorId: string;
}

/** Locks the subscription whose usage a vendor reports, and its account, until the transaction ends. Those to other vendors' apps are not found. */
export async function lockMeteredSubscription(
  transaction: Transaction<DB>,
  vendorSlug: string,
  subscriptionId: string,
): Promise<LockedForUsage> {
  const locked = await lockSubscription(transaction, subscriptionId);
  if (locked === undefined || locked.vendorSlug !== vendorSlug) throw subscriptionNotFound();
  const { row, app, vendorId } = locked;
  // All of an account's subscriptions have one limit.
  await deferAccountLock(transaction, { organisationId: row.organisation_id, appId: row.app_id });
  return {
    id: row.id,
    status: row.status as SubscriptionDto["status"],
    orgAlias: row.org_alias,
    createdAt: row.created_at,
    plan: row.pricing_plan,
    app,
    vendorId,
  };
}
