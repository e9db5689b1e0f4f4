import type { Fraction } from "fraction.js";
import { keptDays } from "./charged-days.ts";
import { millisecondsPerDay } from "./month.ts";

export const undoneWithinMs = 3_600_000;

/** What was agreed since a time, and what a day of it costs. */
export interface PricedTerms {
  from: Date;
  price: Fraction;
}

/**
 * The beginning of the increase that a change to this price takes back: within the hour, to no more than what it was before. Such an increase
 * counts as never made. Null if there is none.
 */
export function findUndoneSince(history: readonly PricedTerms[], price: Fraction, now: Date): Date | null {
  for (const [index, increased] of history.entries()) {
    const before = history[index - 1];
    if (before === undefined || now.getTime() - increased.from.getTime() > undoneWithinMs) continue;
    const isAbove = history.slice(index).every((each) => each.price.compare(before.price) > 0);
    if (isAbove && price.compare(before.price) <= 0) return increased.from;
  }
  return null;
}

/** A mistake counts as never made once in this time. */
export const mayUndo = (lastUndoneAt: Date | null, now: Date): boolean =>
  lastUndoneAt === null || now.getTime() - lastUndoneAt.getTime() >= keptDays * millisecondsPerDay;
