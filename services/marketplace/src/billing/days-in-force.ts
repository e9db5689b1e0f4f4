import { type Month, millisecondsPerDay, startsOfDays } from "./month.ts";

/** What was agreed, from a time until the next change. */
export interface Terms {
  from: Date;
  planId: string;
  quantity: number;
}

export interface Pause {
  from: Date;
  /** Null while it lasts. */
  to: Date | null;
}

/** What a subscription was, over time. */
export interface SubscriptionHistory {
  /** In order. The subscription begins with the first. */
  terms: readonly [Terms, ...Terms[]];
  pauses: readonly Pause[];
  trialEndsAt: Date | null;
  cancelledAt: Date | null;
}

/** A day on which a subscription is in force. */
export interface DayInForce {
  start: Date;
  planId: string;
  quantity: number;
  /** Nothing of the day is charged, nor is its usage. */
  isTrial: boolean;
  /** The day isn't charged. Usage after the pause is. */
  isPaused: boolean;
}

function isInForce({ terms: [first], cancelledAt }: SubscriptionHistory, start: Date): boolean {
  const isFirst = first.from >= start && first.from.getTime() < start.getTime() + millisecondsPerDay;
  return isFirst || (first.from < start && (cancelledAt === null || cancelledAt > start));
}

const isPaused = ({ pauses }: SubscriptionHistory, start: Date): boolean =>
  pauses.some(({ from, to }) => from <= start && (to === null || to > start));

/**
 * The days of a month on which a subscription is in force. A day is what the subscription is at its start, so a change counts from the next
 * day. The first day is what was first agreed, and the last day counts in full.
 */
export function findDaysInForce(month: Month, history: SubscriptionHistory): DayInForce[] {
  const { terms, trialEndsAt } = history;
  return startsOfDays(month)
    .filter((start) => isInForce(history, start))
    .map((start) => {
      const { planId, quantity } = terms.findLast(({ from }) => from <= start) ?? terms[0];
      const isTrial = trialEndsAt !== null && start < trialEndsAt;
      return { start, planId, quantity, isTrial, isPaused: isPaused(history, start) };
    });
}

/** Days that have the same price: of one plan and quantity. */
export interface EqualDays {
  planId: string;
  quantity: number;
  days: number;
}

/** The days that are charged, those with the same price together, in the order in which they begin. */
export function groupChargedDays(days: readonly DayInForce[]): EqualDays[] {
  const groups = new Map<string, EqualDays>();
  for (const { planId, quantity, isTrial, isPaused: isFree } of days) {
    if (isTrial || isFree) continue;
    const key = `${planId} ${quantity}`;
    const group = groups.get(key) ?? { planId, quantity, days: 0 };
    groups.set(key, { ...group, days: group.days + 1 });
  }
  return [...groups.values()];
}
