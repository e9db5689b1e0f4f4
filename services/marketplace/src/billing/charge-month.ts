import type { PricingPlanDto } from "@ehr-marketplace/contracts";
import type { Account } from "../subscriptions/account.ts";
import type { PlanUsage } from "../usage/read-daily-usage.ts";
import { type ChargedQuantity, chargeUsage } from "./charge-usage.ts";
import { type ChargedDay, findChargedDays, groupDays } from "./charged-days.ts";
import type { Month } from "./month.ts";
import { type PricedLine, price, priceOfDay, totalOf } from "./price.ts";
import { projectUsage } from "./project-usage.ts";

/** What an account was in a month, and what was used of it. */
export interface BilledMonth {
  month: Month;
  account: Account<PricingPlanDto>;
  /** Of all of its subscriptions, in the order of the days. */
  usage: readonly PlanUsage[];
}

/** What is charged to one of the account's subscriptions. */
export interface AccountLine extends PricedLine {
  subscriptionId: string;
}

function toLines(
  { month, account }: BilledMonth,
  days: readonly ChargedDay<PricingPlanDto>[],
  usage: readonly ChargedQuantity[],
): AccountLine[] {
  const [daysOf, usageOf] = [Map.groupBy(days, idOf), Map.groupBy(usage, idOf)];
  return account.flatMap(({ id }) => {
    const lines = price(month, groupDays(daysOf.get(id) ?? []), usageOf.get(id) ?? []);
    return lines.map((line) => ({ subscriptionId: id, ...line }));
  });
}

const idOf = ({ subscriptionId }: { subscriptionId: string }): string => subscriptionId;

/** What each day of the month is charged for. */
export const findDays = ({ month, account }: BilledMonth): ChargedDay<PricingPlanDto>[] =>
  findChargedDays(month, account, ({ plan, quantity }) => priceOfDay(plan, quantity, month));

const untilDayOf =
  (until: Date) =>
  ({ start }: { start: Date }): boolean =>
    start <= until;

/** The lines of a month, until a time if one is given: that day counts in full. */
export function chargeMonth(billed: BilledMonth, until?: Date): AccountLine[] {
  const days = findDays(billed);
  return toLines(billed, until === undefined ? days : days.filter(untilDayOf(until)), chargeUsage(billed));
}

/** What the month's usage costs. */
export const totalOfUsage = (billed: BilledMonth): bigint => totalOf(toLines(billed, [], chargeUsage(billed)));

/** The month so far, today included, and what it will be if the account stays as it is and usage goes on at its rate. */
export function estimateMonth(billed: BilledMonth, now: Date): { lines: AccountLine[]; projected: AccountLine[] } {
  const days = findDays(billed);
  return {
    lines: toLines(billed, days.filter(untilDayOf(now)), chargeUsage(billed)),
    projected: toLines(billed, days, chargeUsage(billed, projectUsage(billed, now))),
  };
}

/** Of one of the account's subscriptions. */
export const linesOf = (lines: readonly AccountLine[], id: string): AccountLine[] =>
  lines.filter(({ subscriptionId }) => subscriptionId === id);
