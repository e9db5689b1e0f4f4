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

const isOf = ({ subscriptionId, plan }: MeteredPlan, other: { subscriptionId: string; planId: string }): boolean =>
  other.subscriptionId === subscriptionId && other.planId === plan.id;

/** A sum goes on where that of an earlier plan has ended, so that nobody gets included units twice by changing plans. */
function chargeSums(plans: readonly MeteredPlan[], quantityOf: (plan: MeteredPlan) => Fraction): ChargedQuantity[] {
  let after = zero;
  return plans.map((each) => {
    const charged = { ...each, quantity: quantityOf(each), after };
    after = after.add(charged.quantity);
    return charged;
  });
}

/** A highest or latest value is charged once, by the plan for which it costs the most. */
function chargeValue(plans: readonly MeteredPlan[], quantity: Fraction): ChargedQuantity[] {
  const charged = plans.map((each) => ({ ...each, quantity, after: zero }));
  return charged.toSorted((a, b) => priceOfUsage(a).compare(priceOfUsage(b))).slice(-1);
}

interface UsedMonth {
  month: Month;
  account: Account<PricingPlanDto>;
  usage: readonly PlanUsage[];
}

/** What each plan charges of a month's usage, and of what is projected. Usage belongs to the plan that was in force. That of trials is free. */
export function chargeUsage({ month, account, usage }: UsedMonth, projected?: ProjectedUsage): ChargedQuantity[] {
  return groupByMetric(month, account).flatMap(({ aggregation, plans }) => {
    const used = usage.filter((each) => !each.isTrial && plans.some((plan) => isOf(plan, each)));
    const isAhead = (plan: MeteredPlan): boolean =>
      projected !== undefined && isOf(plan, { ...projected, planId: projected.plan.id });
    if (isValue(aggregation)) {
      const value = plans.some(isAhead) ? projected?.quantity : aggregateUsage(aggregation, used);
      return chargeValue(plans, value ?? zero);
    }
    return chargeSums(plans, (plan) => {
      const own =
        aggregateUsage(
          aggregation,
          used.filter((each) => isOf(plan, each)),
        ) ?? zero;
      return isAhead(plan) ? own.add(projected?.quantity ?? zero) : own;
    });
  });
}
