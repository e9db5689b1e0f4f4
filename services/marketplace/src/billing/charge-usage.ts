import type { PricingPlanDto, UsageAggregation } from "@ehr-marketplace/contracts";
import { Fraction } from "fraction.js";
import type { Account, SubscriptionInAccount } from "../subscriptions/account.ts";
import type { PlanUsage } from "../usage/read-daily-usage.ts";
import { aggregateUsage } from "./aggregate-usage.ts";
import { type Month, periodOf } from "./month.ts";
import { priceOfUsage } from "./price.ts";
import { isValue, type ProjectedUsage } from "./project-usage.ts";

/** A plan with usage that a subscription had in the month, outside of its trial. */
interface MeteredPlan {
  subscriptionId: string;
  plan: PricingPlanDto;
}

/** What a plan charges of the metric, and what plans before it have charged. */
export interface ChargedQuantity extends MeteredPlan {
  quantity: Fraction;
  after: Fraction;
  chargedTo: Fraction;
}

const zero = new Fraction(0);

function findMetered(month: Month, subscription: SubscriptionInAccount<PricingPlanDto>): MeteredPlan[] {
  const { from, to } = periodOf(month);
  const { id, trialEndsAt, periods } = subscription;
  const begin = trialEndsAt !== null && trialEndsAt > from ? trialEndsAt : from;
  const plans = periods
    .filter((period) => period.from < to && (period.to === null || period.to > begin))
    .map(({ plan }) => plan)
    .filter(({ pricingModel }) => pricingModel === "USAGE");
  return [...new Map(plans.map((plan) => [plan.id, { subscriptionId: id, plan }])).values()];
}

/** Plans that charge the same metric by the same aggregation, in the order in which they were in force. */
interface Metric {
  aggregation: UsageAggregation | null;
  plans: MeteredPlan[];
}

function groupByMetric(month: Month, account: Account<PricingPlanDto>): Metric[] {
  const plans = account.flatMap((subscription) => findMetered(month, subscription));
  const groups = Map.groupBy(plans, ({ plan }) => `${plan.aggregation} ${plan.metric}`);
  return [...groups.values()].map((of) => ({ aggregation: of[0]?.plan.aggregation ?? null, plans: of }));
}

const keyOf = (subscriptionId: string, planId: string): string => `${subscriptionId} ${planId}`;

/** A sum goes on where that of an earlier plan has ended, so that nobody gets included units twice by changing plans. */
function chargeSums(plans: readonly MeteredPlan[], quantityOf: (plan: MeteredPlan) => Fraction): ChargedQuantity[] {
  let after = zero;
  const chargedTo = new Map<string, Fraction>();
  return plans.map((each) => {
    const charged = { ...each, quantity: quantityOf(each), after, chargedTo: chargedTo.get(each.plan.id) ?? zero };
    after = after.add(charged.quantity);
    chargedTo.set(each.plan.id, after);
    return charged;
  });
}

/** A highest or latest value is charged once, by the plan for which it costs the most: of equal ones, the last. */
function chargeValue(plans: readonly MeteredPlan[], quantity: Fraction): ChargedQuantity[] {
  let dearest: { charged: ChargedQuantity; price: Fraction } | undefined;
  for (const each of plans) {
    const charged = { ...each, quantity, after: zero, chargedTo: zero };
    const price = priceOfUsage(charged);
    if (dearest === undefined || price.compare(dearest.price) >= 0) dearest = { charged, price };
  }
  return dearest === undefined ? [] : [dearest.charged];
}

interface UsedMonth {
  month: Month;
  account: Account<PricingPlanDto>;
  usage: readonly PlanUsage[];
}

/** What each plan charges of a month's usage, and of what is projected. Usage belongs to the plan that was in force. That of trials is free. */
export function chargeUsage({ month, account, usage }: UsedMonth, projected?: ProjectedUsage): ChargedQuantity[] {
  const charged = usage.filter(({ isTrial }) => !isTrial);
  const usageOf = Map.groupBy(charged, ({ subscriptionId, planId }) => keyOf(subscriptionId, planId));
  const ahead = projected && keyOf(projected.subscriptionId, projected.plan.id);
  return groupByMetric(month, account).flatMap(({ aggregation, plans }) => {
    const keys = new Set(plans.map(({ subscriptionId, plan }) => keyOf(subscriptionId, plan.id)));
    if (isValue(aggregation)) {
      const used = charged.filter(({ subscriptionId, planId }) => keys.has(keyOf(subscriptionId, planId)));
      const isAhead = ahead !== undefined && keys.has(ahead);
      const value = isAhead ? projected?.quantity : aggregateUsage(aggregation, used);
      return chargeValue(plans, value ?? zero);
    }
    return chargeSums(plans, ({ subscriptionId, plan }) => {
      const key = keyOf(subscriptionId, plan.id);
      const used = aggregateUsage(aggregation, usageOf.get(key) ?? []) ?? zero;
      return key === ahead ? used.add(projected?.quantity ?? zero) : used;
    });
  });
}
