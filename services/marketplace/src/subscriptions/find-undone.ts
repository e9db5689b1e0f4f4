import type { PricingPlanDto } from "@ehr-marketplace/contracts";
import type { Transaction } from "kysely";
import { toMonth } from "../billing/month.ts";
import { priceOfDay } from "../billing/price.ts";
import { findUndoneSince, mayUndo, undoneWithinMs } from "../billing/undone-increase.ts";
import type { DB } from "../database-schema.ts";
import { addPlans, getKnownPlan, type KnownPlans } from "./known-plans.ts";
import type { SubscriptionRow } from "./subscription-store.ts";
import { findEndedTerms, findLastUndone } from "./undone-increase-store.ts";

interface NewTerms {
  plan: PricingPlanDto;
  quantity: number | null;
}

/** The beginning of an increase that these terms take back and that counts as never made, or null. The caller has locked the subscription. */
export async function findUndone(
  transaction: Transaction<DB>,
  row: SubscriptionRow,
  terms: NewTerms,
  at: Date,
): Promise<Date | null> {
  const ended = await findEndedTerms(transaction, row.id, new Date(at.getTime() - undoneWithinMs));
  if (ended.length === 0) return null;
  const plans: KnownPlans = new Map([[row.pricing_plan_id, row.pricing_plan]]);
  await addPlans(
    transaction,
    plans,
    ended.map(({ planId }) => planId),
  );
  const priceOf = ({ plan, quantity }: NewTerms) => priceOfDay(plan, quantity, toMonth(at));
  const agreed = [...ended, { planId: row.pricing_plan_id, quantity: row.quantity }];
  const history = agreed.map(({ planId, quantity }, index) => ({
    from: ended[index - 1]?.endedAt ?? row.created_at,
    price: priceOf({ plan: getKnownPlan(plans, planId), quantity }),
  }));
  const since = findUndoneSince(history, priceOf(terms), at);
  if (since === null) return null;
  const account = { organisationId: row.organisation_id, appId: row.app_id };
  return mayUndo(await findLastUndone(transaction, account), at) ? since : null;
}
