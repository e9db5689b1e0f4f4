import type { PricingPlanDto } from "@ehr-marketplace/contracts";
import { Fraction } from "fraction.js";
import type { DailyUsage } from "../usage/read-daily-usage.ts";
import { dayOf } from "../usage/usage-record.ts";
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
}

/** The charged days of each metered plan, in the order in which they begin. */
function findMetered(days: readonly Day[]): MeteredDays[] {
  const metered = days.filter(({ plan, isTrial }) => plan.pricingModel === "USAGE" && !isTrial);
  return [...Map.groupBy(metered, ({ plan }) => plan.id).values()].flatMap((ofPlan) => {
    const plan = ofPlan[0]?.plan;
    return plan === undefined ? [] : [{ plan, days: ofPlan }];
  });
}

function usageOf(days: readonly Day[], usage: readonly DailyUsage[]): DailyUsage[] {
  const dates = new Set(days.map(({ start }) => dayOf(start)));
  return usage.filter(({ day }) => dates.has(day));
}

const zero = new Fraction(0);

const toCharged = ({ plan, days }: MeteredDays, usage: readonly DailyUsage[]): ChargedUsage => ({
  plan,
  quantity: aggregateUsage(plan, usageOf(days, usage)) ?? zero,
});

const chargeDays = ({ month, usage }: BilledMonth, days: readonly Day[]): PricedLine[] =>
  price(
    month,
    groupChargedDays(days),
    findMetered(days).map((each) => toCharged(each, usage)),
  );

const untilDayOf =
  (until: Date) =>
  ({ start }: Day): boolean =>
    start <= until;

/** The lines of a month, until a time if one is given: that day counts in full. */
export function chargeMonth(billed: BilledMonth, until?: Date): PricedLine[] {
  const days = findDaysInForce(billed.month, billed.history);
  return chargeDays(billed, until === undefined ? days : days.filter(untilDayOf(until)));
}

export interface MonthEstimate {
  lines: PricedLine[];
  total: bigint;
  projectedTotal: bigint;
}

/** The month so far, today included, and what it will cost if the subscription stays as it is and usage goes on at its rate. */
export function estimateMonth(billed: BilledMonth, now: Date): MonthEstimate {
  const { month, history, usage } = billed;
  const days = findDaysInForce(month, history);
  const lines = chargeDays(billed, days.filter(untilDayOf(now)));
  const projected = findMetered(days).map((each) => ({
    plan: each.plan,
    quantity: projectUsage(each, { days, usage, isInUse: isInUse(history, now), now }),
  }));
  return { lines, total: totalOf(lines), projectedTotal: totalOf(price(month, groupChargedDays(days), projected)) };
}

const isInUse = ({ pauses, cancelledAt }: BilledMonth["history"], now: Date): boolean =>
  (cancelledAt === null || cancelledAt > now) &&
  !pauses.some(({ from, to }) => from <= now && (to === null || to > now));

interface ProjectionInput {
  /** Of the month, also those of trials and of other plans: their usage shows the rate, too. */
  days: readonly Day[];
  usage: readonly DailyUsage[];
  isInUse: boolean;
  now: Date;
}

/**
 * What the plan's days have used, and its metric's rate until now for those that are left. At least one day counts as over, so that the first
 * hours of a month aren't multiplied.
 */
function projectUsage(
  { plan, days }: MeteredDays,
  { days: all, usage, isInUse: inUse, now }: ProjectionInput,
): Fraction {
  const own = aggregateUsage(plan, usageOf(days, usage)) ?? zero;
  const ofMetric = aggregateUsage(plan, usageOf(all, usage)) ?? zero;
  const elapsedMs = sum(all.filter(({ isPaused }) => !isPaused).map(({ start }) => elapsedOf(start, now)));
  const leftMs = inUse
    ? sum(days.filter(({ isPaused }) => !isPaused).map(({ start }) => millisecondsPerDay - elapsedOf(start, now)))
    : 0;
  if (plan.aggregation === "MAX" || plan.aggregation === "LATEST") return leftMs > 0 ? ofMetric : own;
  const countedMs = Math.max(elapsedMs, millisecondsPerDay);
  const aheadMs = Math.max(0, leftMs - (countedMs - elapsedMs));
  return own.add(ofMetric.mul(aheadMs).div(countedMs));
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

/** How much of a day is over. */
const elapsedOf = (start: Date, now: Date): number =>
  Math.min(Math.max(now.getTime() - start.getTime(), 0), millisecondsPerDay);
