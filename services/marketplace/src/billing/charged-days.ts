import type { Fraction } from "fraction.js";
import type { Account, ActivePeriod, Pause } from "../subscriptions/account.ts";
import { millisecondsPerDay as dayMs, type Month, periodOf, startsOfDays, toMonth } from "./month.ts";

/** A reduction counts after this many days, and who subscribes again sooner has only paused. */
export const keptDays = 7;

/** What a day of the month costs, exactly. */
export type DayPrice<Plan> = (terms: Pick<ActivePeriod<Plan>, "plan" | "quantity">) => Fraction;

/** A day on which an account is charged, the subscription that it is charged to, and the terms that it is charged for. */
export interface ChargedDay<Plan> {
  start: Date;
  subscriptionId: string;
  plan: Plan;
  quantity: number | null;
}

/** In milliseconds. */
interface Interval {
  from: number;
  to: number;
}

const timeOf = (time: Date | null): number => time?.getTime() ?? Number.POSITIVE_INFINITY;

/** The account's next subscription began so soon after this one was cancelled that there was only a pause between them. */
export const isContinued = (
  { cancelledAt }: { cancelledAt: Date | null },
  next: { createdAt: Date } | undefined,
): boolean =>
  cancelledAt !== null && next !== undefined && timeOf(next.createdAt) - timeOf(cancelledAt) < keptDays * dayMs;

/**
 * Whether a pause is the practice's own decision. One at its spend limit is, if the practice has raised the limit in the same month: a limit
 * that is set and raised again and again would be a way to pause.
 */
function isOwn(
  { from, to, reason }: Pause,
  { cancelledAt }: { cancelledAt: Date | null },
  continued: boolean,
): boolean {
  if (reason !== "SPEND_LIMIT") return reason === "ORG_REQUEST";
  if (to === null || toMonth(from) !== toMonth(to)) return false;
  return cancelledAt?.getTime() !== to.getTime() || continued;
}

/** When an account is charged: while it is subscribed, and between two subscriptions that follow each other soon, outside of trials. */
function* chargeableTimes<Plan>(account: Account<Plan>): Generator<Interval & { pauses: Interval[] }> {
  for (const [index, subscription] of account.entries()) {
    const { createdAt, cancelledAt, trialEndsAt, pauses } = subscription;
    const next = account[index + 1];
    const continued = isContinued(subscription, next);
    const from = Math.max(timeOf(createdAt), trialEndsAt?.getTime() ?? 0);
    const others = pauses.filter((pause) => !isOwn(pause, subscription, continued));
    const free = others.map((pause) => ({ from: timeOf(pause.from), to: timeOf(pause.to) }));
    yield { from, to: timeOf(cancelledAt), pauses: free };
    const gap = Math.max(timeOf(cancelledAt), trialEndsAt?.getTime() ?? 0);
    if (continued) yield { from: gap, to: timeOf(next?.createdAt ?? null), pauses: [] };
  }
}

/**
 * The days of a month on which an account is charged. One is free if all of it is in a trial, or in a pause that the practice didn't decide
 * on. A pause is followed by an active moment, so one that doesn't contain a day's start leaves something of the day.
 */
export function findChargeableDays<Plan>(month: Month, account: Account<Plan>): Date[] {
  const times = [...chargeableTimes(account)];
  return startsOfDays(month).filter((start) => {
    const day = { from: start.getTime(), to: start.getTime() + dayMs };
    return times.some(({ from, to, pauses }) => {
      const part = { from: Math.max(from, day.from), to: Math.min(to, day.to) };
      return part.from < part.to && !pauses.some((pause) => pause.from <= part.from && pause.to >= part.to);
    });
  });
}

type Terms<Plan> = Pick<ActivePeriod<Plan>, "plan" | "quantity">;

/** The terms that were in force on each day, outside of trials and pauses, by the day's start. */
function findTermsOfDays<Plan extends { id: string }>(
  account: Account<Plan>,
  range: Interval,
): Map<number, Map<string, Terms<Plan>>> {
  const days = new Map<number, Map<string, Terms<Plan>>>();
  for (const { trialEndsAt, periods } of account) {
    for (const { from, to, plan, quantity } of periods) {
      const first = Math.max(timeOf(from), trialEndsAt?.getTime() ?? 0, range.from);
      const end = Math.min(timeOf(to), range.to);
      if (first >= end) continue;
      for (let day = first - (first % dayMs); day < end; day += dayMs) {
        const terms = days.get(day) ?? new Map<string, Terms<Plan>>();
        days.set(day, terms.set(`${plan.id} ${quantity}`, { plan, quantity }));
      }
    }
  }
  return days;
}

/**
 * What an account is charged for on each day of a month: the dearest terms of the day and of the six before it, at the price of the day. So
 * increases count at once, and reductions after seven days. A day belongs to the subscription that began last.
 */
export function findChargedDays<Plan extends { id: string }>(
  month: Month,
  account: Account<Plan>,
  dayPrice: DayPrice<Plan>,
): ChargedDay<Plan>[] {
  const days = findChargeableDays(month, account);
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined) return [];
  const lookBack = (keptDays - 1) * dayMs;
  const terms = findTermsOfDays(account, { from: first.getTime() - lookBack, to: last.getTime() + dayMs });
  const prices = new Map<string, Fraction>();
  const priceOf = (key: string, of: Terms<Plan>): Fraction => {
    const price = prices.get(key) ?? dayPrice(of);
    prices.set(key, price);
    return price;
  };
  return days.flatMap((start): ChargedDay<Plan>[] => {
    let dearest: { terms: Terms<Plan>; price: Fraction } | undefined;
    for (let day = start.getTime(); day >= start.getTime() - lookBack; day -= dayMs) {
      for (const [key, of] of terms.get(day) ?? []) {
        const price = priceOf(key, of);
        if (dearest === undefined || price.compare(dearest.price) > 0) dearest = { terms: of, price };
      }
    }
    const owner = account.findLast(({ createdAt }) => createdAt.getTime() < start.getTime() + dayMs);
    if (dearest === undefined || owner === undefined) return [];
    return [{ start, subscriptionId: owner.id, ...dearest.terms }];
  });
}

/** Days that have the same price: of one plan and quantity. */
export interface EqualDays<Plan> {
  plan: Plan;
  quantity: number;
  days: number;
}

/** Those with the same price together, in the order in which they begin. */
export function groupDays<Plan extends { id: string }>(days: readonly ChargedDay<Plan>[]): EqualDays<Plan>[] {
  const groups = new Map<string, EqualDays<Plan>>();
  for (const { plan, quantity } of days) {
    const key = `${plan.id} ${quantity}`;
    const group = groups.get(key) ?? { plan, quantity: quantity ?? 1, days: 0 };
    groups.set(key, { ...group, days: group.days + 1 });
  }
  return [...groups.values()];
}

/** A month depends on what was in force since this time. */
export const beginsAt = (month: Month): Date => new Date(periodOf(month).from.getTime() - keptDays * dayMs);
