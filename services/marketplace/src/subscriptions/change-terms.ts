import type { ChangeTermsBody, PricingPlanDto, SubscriptionDto } from "@ehr-marketplace/contracts";
import { useGenericPlans } from "@ehr-marketplace/service-kit/database";
import { Problem } from "@ehr-marketplace/service-kit/http";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Role } from "@ehr-marketplace/service-kit/tokens";
import type { Transaction } from "kysely";
import type { RequestContext } from "../access/request-context.ts";
import { formatDecimal } from "../billing/charge-line.ts";
import { estimateSubscription } from "../billing/estimate-subscription.ts";
import { findLimitInForce } from "../billing/limit-in-force.ts";
import { priceOfInterval } from "../billing/price.ts";
import { requireTermsBelowLimit } from "../billing/require-below-spend-limit.ts";
import { findOffer, getPlan } from "../catalog/find-offer.ts";
import type { DB } from "../database-schema.ts";
import { nextInstant } from "../events/event.ts";
import { claimKey, type IdempotentRequest } from "../idempotency/run-idempotently.ts";
import { requireChangeAllowed } from "./change-subscription.ts";
import { countsUnits, invalidField, limitedState } from "./create-subscription.ts";
import { findUndone } from "./find-undone.ts";
import { lockOwnSubscription } from "./lock-subscription.ts";
import { addMissingScopes } from "./read-subscriptions.ts";
import { recordUpdated } from "./record-updated.ts";
import type { SubscriptionDeps } from "./subscription-deps.ts";
import { subscriptionProblems } from "./subscription-errors.ts";
import { subscriptionState } from "./subscription-record.ts";
import { type LockedSubscription, updateTerms } from "./subscription-store.ts";
import { shortenTrial } from "./trial.ts";
import { insertUndoneIncrease } from "./undone-increase-store.ts";

const changeRoles: readonly Role[] = ["org-admin", "operator"];

/** Changes plan, quantity or both. What it was before stays known, because prices follow from it. */
export async function changeTerms(
  { database, clock, queue, bodyDigest, usageLimits }: SubscriptionDeps,
  by: RequestContext,
  id: string,
  input: ChangeTermsBody,
  idempotentRequest: IdempotentRequest,
): Promise<SubscriptionDto> {
  const now = clock();
  return database.transaction().execute(async (transaction) => {
    await useGenericPlans(transaction);
    const runOnce = await claimKey(transaction, { caller: by.caller, now, bodyDigest }, idempotentRequest);
    const { locked, role } = await lockOwnSubscription(transaction, by, id, changeRoles);
    const changed = await runOnce(async () => {
      const { row } = locked;
      if (row.status === "cancelled") {
        throw new Problem(subscriptionProblems.cancelled, `Subscription ${id} is cancelled.`);
      }
      const plan = await requirePlan(transaction, locked, input.pricingPlanId);
      const quantity = chooseQuantity(plan, input.quantity, row.quantity);
      if (plan.id === row.pricing_plan_id && quantity === row.quantity) return subscriptionState(row);
      await requireChangeAllowed(transaction, by, locked, now);
      const limit = await findLimitInForce(transaction, { id, plan }, usageLimits);
      const isLimited = limit !== undefined && row.status === "active";
      const before = isLimited ? await estimateSubscription(transaction, id, now) : undefined;
      const state = await applyTerms(transaction, queue, { by, role, locked, terms: { plan, quantity }, now });
      if (before === undefined || limit === undefined) return state;
      await requireTermsBelowLimit(transaction, { id, limit, now }, before.accountTotal);
      return limitedState(transaction, queue, id, { limit, by: { ...by, role }, now });
    });
    const pricingPlan = await getPlan(transaction, changed.pricingPlanId);
    return { ...(await addMissingScopes(transaction, changed)), pricingPlan };
  });
}

/** The plan that it has, also if that is no longer on sale, or one on sale. */
async function requirePlan(
  transaction: Transaction<DB>,
  { row }: LockedSubscription,
  planId: string,
): Promise<PricingPlanDto> {
  if (planId === row.pricing_plan_id) return row.pricing_plan;
  const offer = await findOffer(transaction, row.app_slug, planId);
  if (offer?.plan === undefined) {
    throw invalidField(subscriptionProblems.unknownPlan, "pricingPlanId", "is not a plan that this app has on sale");
  }
  const { currency } = row.pricing_plan;
  if (offer.plan.currency !== currency) {
    const detail = `has the currency ${offer.plan.currency}, and the subscription's plan ${currency}`;
    throw invalidField(subscriptionProblems.otherCurrency, "pricingPlanId", detail);
  }
  return offer.plan;
}

function chooseQuantity(plan: PricingPlanDto, given: number | undefined, current: number | null): number | null {
  if (countsUnits(plan)) return given ?? current ?? 1;
  if (given === undefined) return null;
  throw invalidField(subscriptionProblems.quantityNotCounted, "quantity", "is not allowed for this plan");
}

interface NewTerms {
  by: RequestContext;
  role: Role;
  locked: LockedSubscription;
  terms: { plan: PricingPlanDto; quantity: number | null };
  now: Date;
}

async function applyTerms(transaction: Transaction<DB>, queue: Queue, { by, role, locked, terms, now }: NewTerms) {
  const { row, app, vendorId } = locked;
  const at = nextInstant(now, row.updated_at);
  const trial = { createdAt: row.created_at, trialEndsAt: row.trial_ends_at };
  const changes = {
    pricing_plan_id: terms.plan.id,
    quantity: terms.quantity,
    interval_amount: formatDecimal(priceOfInterval(terms.plan, terms.quantity)),
    trial_ends_at: terms.plan.id === row.pricing_plan_id ? row.trial_ends_at : shortenTrial(trial, terms.plan, at),
    updated_at: at,
    revision: row.revision + 1,
  };
  const undoneSince = await findUndone(transaction, row, terms, at);
  await updateTerms(transaction, row.id, changes);
  if (undoneSince !== null)
    await insertUndoneIncrease(transaction, { subscriptionId: row.id, from: undoneSince, to: at });
  const changed = { ...row, ...changes };
  return recordUpdated(transaction, queue, {
    by,
    role,
    action: "subscription.change-terms",
    before: row,
    after: changed,
    app,
    vendorId,
  });
}
