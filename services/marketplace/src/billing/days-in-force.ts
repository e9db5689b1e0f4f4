import { findTermsOfDay, type TermsHistory } from "../subscriptions/terms.ts";
import { type Month, millisecondsPerDay, startsOfDays } from "./month.ts";

/** What a subscription was, over time. */
export interface History<Plan> {
  /** The subscription begins with the first. */
  terms: TermsHistory<Plan>;
  /** `to` is null while it lasts. */
  pauses: readonly { from: Date; to: Date | null }[];
  trialEndsAt: Date | null;
  cancelledAt: Date | null;
}

/** A day on which a subscription is in force. */
export interface DayInForce<Plan> {
  start: Date;
  plan: Plan;
  quantity: number | null;
  /** Nothing of the day is charged, nor is its usage. */
  isTrial: boolean;
  /** The day isn't charged. Usage after the pause is. */
  isPaused: boolean;
}

function isInForce<Plan>({ terms: [first], cancelledAt }: History<Plan>, start: Date): boolean {
  const isFirst = first.from >= start && first.from.getTime() < start.getTime() + millisecondsPerDay;
  return isFirst || (first.from < start && (cancelledAt === null || cancelledAt > start));
}

const isPaused = <Plan>({ pauses }: History<Plan>, start: Date): boolean =>
  pauses.some(({ from, to }) => from <= start && (to === null || to > start));

/**
 * The days of a month on which a subscription is in force. A day is what the subscription is at its start, so a change counts from the next
 * day. The first day is what was first agreed, and the last day counts in full.
 */
export function findDaysInForce<Plan>(month: Month, history: History<Plan>): DayInForce<Plan>[] {
  const { terms, trialEndsAt } = history;
  return startsOfDays(month)
    .filter((start) => isInForce(history, start))
    .map((start) => {
      const { plan, quantity } = findTermsOfDay(terms, start);
      const isTrial = trialEndsAt !== null && start < trialEndsAt;
      return { start, plan, quantity, isTrial, isPaused: isPaused(history, start) };
    });
}

/** Days that have the same price: of one plan and quantity. */
export interface EqualDays<Plan> {
  plan: Plan;
  quantity: number;
  days: number;
}

/** The days that are charged, those with the same price together, in the order in which they begin. */
export function groupChargedDays<Plan extends { id: string }>(days: readonly DayInForce<Plan>[]): EqualDays<Plan>[] {
  const groups = new Map<string, EqualDays<Plan>>();
  for (const { plan, quantity, isTrial, isPaused: isFree } of days) {
    if (isTrial || isFree) continue;
    const key = `${plan.id} ${quantity}`;
    const group = groups.get(key) ?? { plan, quantity: quantity ?? 1, days: 0 };
    groups.set(key, { ...group, days: group.days + 1 });
  }
  return [...groups.values()];
}
