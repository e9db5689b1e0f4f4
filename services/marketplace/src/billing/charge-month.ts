import type { PricingPlanDto } from "@ehr-marketplace/contracts";
import { Fraction } from "fraction.js";
import type { DailyUsage } from "../usage/read-daily-usage.ts";
import { type DayInForce, findDaysInForce, groupChargedDays, type History } from "./days-in-force.ts";
import { type Month, millisecondsPerDay } from "./month.ts";
import { type ChargedUsage, type PricedLine, price, totalOf } from "./price.ts";

type Day = DayInForce<PricingPlanDto>;

/** What a subscription was in a month, and what was used of it. */
export interface BilledMonth {
  month: Month;
  history: History<PricingPlanDto>;
  /** In the order of the days. */
  usage: readonly DailyUsage[];
}

const dayOf = (start: Date): string => start.toISOString().slice(0, 10);

/** The usage of some days by a plan's metric and aggregation. Null if there was none. */
function aggregateUsage(plan: PricingPlanDto, usage: readonly DailyUsage[]): Fraction | null {
  const quantities = usage
    .filter(({ metric, aggregation }) => metric === plan.metric && aggregation === plan.aggregation)
    .map(({ quantity }) => new Fraction(quantity));
  const latest = quantities.at(-1);
  if (latest === undefined) return null;
  switch (plan.aggregation) {
    case "MAX":
      return quantities.reduce((a, b) => (a.compare(b) > 0 ? a : b));
    case "LATEST":
      return latest;
    default:
      return quantities.reduce((a, b) => a.add(b));
  }
}

interface MeteredDays {
  plan: PricingPlanDto;
  /** Those of a trial are free. */
  days: Day[];
  used: Fraction;
}

/** The usage of each metered plan, in the order in which they begin. */
function meterPlans(days: readonly Day[], usage: readonly DailyUsage[]): MeteredDays[] {
  const metered = days.filter(({ plan, isTrial }) => plan.pricingModel === "USAGE" && !isTrial);
  return [...Map.groupBy(metered, ({ plan }) => plan.id).values()].flatMap((ofPlan) => {
    const plan = ofPlan[0]?.plan;
    if (plan === undefined) return [];
    const dates = new Set(ofPlan.map(({ start }) => dayOf(start)));
    const used = aggregateUsage(
      plan,
      usage.filter(({ day }) => dates.has(day)),
    );
    return used === null ? [] : [{ plan, days: ofPlan, used }];
  });
}

const toCharged = ({ plan, used }: MeteredDays): ChargedUsage => ({ plan, quantity: used });

/** The lines of a month that is over. */
export function chargeMonth({ month, history, usage }: BilledMonth): PricedLine[] {
  const days = findDaysInForce(month, history);
  return price(month, groupChargedDays(days), meterPlans(days, usage).map(toCharged));
}

export interface MonthEstimate {
  lines: PricedLine[];
  total: bigint;
  projectedTotal: bigint;
}

/** The month so far, today included, and what it will cost if the subscription stays as it is and usage goes on at its rate. */
export function estimateMonth({ month, history, usage }: BilledMonth, now: Date): MonthEstimate {
  const days = findDaysInForce(month, history);
  const soFar = days.filter(({ start }) => start <= now);
  const used = meterPlans(soFar, usage);
  const lines = price(month, groupChargedDays(soFar), used.map(toCharged));
  const projected = used.map((each) => ({ plan: each.plan, quantity: projectUsage(each, days, now) }));
  return { lines, total: totalOf(lines), projectedTotal: totalOf(price(month, groupChargedDays(days), projected)) };
}

/** Usage per day until now × the days of the plan. At least one day counts, so that the first hours of a month aren't multiplied. */
function projectUsage({ plan, used }: MeteredDays, days: readonly Day[], now: Date): Fraction {
  if (plan.aggregation === "MAX" || plan.aggregation === "LATEST") return used;
  const inUse = days.filter((day) => day.plan.id === plan.id && !day.isTrial && !day.isPaused);
  const elapsedMs = inUse.reduce((sum, { start }) => sum + elapsedOf(start, now), 0);
  if (elapsedMs === 0) return used;
  const projected = used.mul(inUse.length * millisecondsPerDay).div(Math.max(elapsedMs, millisecondsPerDay));
  return projected.compare(used) > 0 ? projected : used;
}

/** How much of a day is over. */
const elapsedOf = (start: Date, now: Date): number =>
  Math.min(Math.max(now.getTime() - start.getTime(), 0), millisecondsPerDay);
