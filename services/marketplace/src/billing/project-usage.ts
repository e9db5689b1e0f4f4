import type { PricingPlanDto, UsageAggregation } from "@ehr-marketplace/contracts";
import { Fraction } from "fraction.js";
import type { Account, ActivePeriod } from "../subscriptions/account.ts";
import type { PlanUsage } from "../usage/read-daily-usage.ts";
import { aggregateUsage } from "./aggregate-usage.ts";
import { type Month, millisecondsPerDay, periodOf } from "./month.ts";

/** What will be used of the plan that is in force. */
export interface ProjectedUsage {
  subscriptionId: string;
  plan: PricingPlanDto;
  /** Of a sum or a count, what is added until the month's end. Of a highest or latest value, the value. */
  quantity: Fraction;
}

interface ProjectedMonth {
  month: Month;
  account: Account<PricingPlanDto>;
  usage: readonly PlanUsage[];
}

/**
 * The metric's rate of the month until now, also that of a trial or of another plan, for the time that is left outside of the trial. At
 * least one day counts as over, so that the first hours of a month aren't multiplied.
 */
export function projectUsage({ month, account, usage }: ProjectedMonth, now: Date): ProjectedUsage | undefined {
  const current = account.at(-1);
  const period = current?.periods.at(-1);
  if (current === undefined || period === undefined || period.to !== null) return undefined;
  const { plan } = period;
  const { from, to } = periodOf(month);
  const aheadMs = to.getTime() - Math.max(now.getTime(), current.trialEndsAt?.getTime() ?? 0);
  const used = aggregateUsage(
    plan.aggregation,
    usage.filter(({ metric, aggregation }) => metric === plan.metric && aggregation === plan.aggregation),
  );
  if (plan.pricingModel !== "USAGE" || used === null || aheadMs <= 0) return undefined;
  const projected = { subscriptionId: current.id, plan };
  if (isValue(plan.aggregation)) return { ...projected, quantity: used };
  const elapsedMs = elapsedOf(account, { from, to: now });
  const countedMs = Math.max(elapsedMs, millisecondsPerDay);
  const addedMs = Math.max(0, aheadMs - (countedMs - elapsedMs));
  return { ...projected, quantity: used.mul(new Fraction(addedMs, countedMs)) };
}

/** Of which there is one for a month, and no part for a part of it. */
export const isValue = (aggregation: UsageAggregation | null): boolean =>
  aggregation === "MAX" || aggregation === "LATEST";

/** For how long the account was in use. */
function elapsedOf(account: Account<unknown>, range: { from: Date; to: Date }): number {
  const lengthOf = ({ from, to }: ActivePeriod<unknown>): number => {
    const end = Math.min(to?.getTime() ?? range.to.getTime(), range.to.getTime());
    return Math.max(0, end - Math.max(from.getTime(), range.from.getTime()));
  };
  return account.flatMap(({ periods }) => periods.map(lengthOf)).reduce((sum, each) => sum + each, 0);
}
