import fc from "fast-check";
import { Fraction } from "fraction.js";
import type { Account, Pause, SubscriptionInAccount } from "../subscriptions/account.ts";
import type { Month } from "./month.ts";
import { findUndoneSince, mayUndo } from "./undone-increase.ts";

export interface PricedTerms {
  id: string;
  amount: number;
  interval: "MONTH" | "YEAR";
}

/** What happens at a minute. What isn't possible then changes nothing. */
export type Step =
  | { do: "subscribe"; terms: PricedTerms; trialDays: number }
  | { do: "change"; terms: PricedTerms }
  | { do: "pause"; reason: "ORG_REQUEST" | "NON_PAYMENT" | "SPEND_LIMIT" }
  | { do: "resume" }
  | { do: "cancel" };
export type PriceHistory = readonly (Step & { minute: number })[];

export const firstDay = Date.UTC(2027, 0, 1);
export const minuteMs = 60_000;
export const timeOf = (minute: number): Date => new Date(firstDay + minute * minuteMs);

export const dayPriceOf = ({ amount, interval }: PricedTerms, time: Date): Fraction => {
  const [year, month] = [time.getUTCFullYear(), time.getUTCMonth()];
  const days = interval === "YEAR" ? 365 : new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return new Fraction(amount, days);
};

export const minutesOfDay = 1440;
export const months: Month[] = ["2027-01", "2027-02", "2027-03", "2027-04"];
export const days = 120;
export const terms: PricedTerms[] = [
  { id: "free", amount: 0, interval: "MONTH" },
  { id: "small", amount: 3_000, interval: "MONTH" },
  { id: "large", amount: 9_000, interval: "MONTH" },
  // Per day, dearer than `small` in March, and cheaper in February.
  { id: "yearly", amount: 38_000, interval: "YEAR" },
];
const someTerms = fc.constantFrom(...terms);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("change" as const), terms: someTerms }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("pause" as const),
      reason: fc.constantFrom("ORG_REQUEST" as const, "NON_PAYMENT" as const, "SPEND_LIMIT" as const),
    }),
  },
  { weight: 3, arbitrary: fc.constant({ do: "resume" as const }) },
  { weight: 1, arbitrary: fc.constant({ do: "cancel" as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("subscribe" as const),
      terms: someTerms,
      trialDays: fc.constantFrom(0, 0, 14),
    }),
  },
);
/** To the next step: often within the hour, at the next midnight, or days later. */
const wait = fc.oneof(
  fc.integer({ min: 1, max: 70 }),
  fc.integer({ min: 1, max: 3 * minutesOfDay }),
  fc.integer({ min: 5 * minutesOfDay, max: 9 * minutesOfDay }),
  fc.constant("midnight" as const),
);
type Move = (readonly [after: number | "midnight", step: Step])[];
const moves: fc.Arbitrary<Move> = fc.oneof(
  fc.tuple(wait, step).map((each) => [each]),
  // An increase that may be taken back.
  fc
    .tuple(wait, fc.array(fc.tuple(fc.integer({ min: 1, max: 40 }), someTerms), { minLength: 2, maxLength: 3 }))
    .map(([after, changes]) => [
      [after, { do: "change" as const, terms: terms[0] as PricedTerms }] as const,
      ...changes.map(([minutes, changed]) => [minutes, { do: "change" as const, terms: changed }] as const),
    ]),
);
/** Random ones. */
export const histories: fc.Arbitrary<PriceHistory> = fc
  .tuple(someTerms, fc.constantFrom(0, 14), fc.array(moves, { maxLength: 15 }))
  .map(([first, trialDays, others]) => {
    let minute = 3 * minutesOfDay + 600;
    return [
      { minute, do: "subscribe" as const, terms: first, trialDays },
      ...others.flat().map(([after, each]) => {
        minute = after === "midnight" ? (Math.floor(minute / minutesOfDay) + 1) * minutesOfDay : minute + after;
        return { minute, ...each };
      }),
    ].filter((each) => each.minute < days * minutesOfDay);
  });

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
interface Growing extends Mutable<Omit<SubscriptionInAccount<PricedTerms>, "periods" | "pauses">> {
  periods: { from: Date; to: Date | null; plan: PricedTerms; quantity: null }[];
  pauses: Mutable<Pause>[];
  terms: { from: Date; plan: PricedTerms; quantity: null }[];
}

/** What the database remembers of a history. */
export function toAccount(history: PriceHistory): Account<PricedTerms> {
  const account: Growing[] = [];
  let lastUndoneAt: Date | null = null;
  for (const { minute, ...event } of history) {
    const now = timeOf(minute);
    const live = account.at(-1)?.cancelledAt === null ? account.at(-1) : undefined;
    const period = live?.periods.at(-1);
    const pause = live?.pauses.at(-1);
    const isActive = period?.to === null;
    const isPaused = pause?.to === null;
    const begin = (plan: PricedTerms): unknown => live?.periods.push({ from: now, to: null, plan, quantity: null });
    switch (event.do) {
      case "subscribe":
        if (live !== undefined) break;
        account.push({
          id: `subscription ${account.length}`,
          createdAt: now,
          cancelledAt: null,
          trialEndsAt:
            event.trialDays > 0 && account.every(({ trialEndsAt }) => trialEndsAt === null)
              ? timeOf(minute + event.trialDays * 1440)
              : null,
          periods: [{ from: now, to: null, plan: event.terms, quantity: null }],
          pauses: [],
          terms: [{ from: now, plan: event.terms, quantity: null }],
        });
        break;
      case "change": {
        if (live === undefined) break;
        const priced = live.terms.map(({ from, plan }) => ({ from, price: dayPriceOf(plan, now) }));
        const since = findUndoneSince(priced, dayPriceOf(event.terms, now), now);
        live.terms.push({ from: now, plan: event.terms, quantity: null });
        if (isActive) {
          period.to = now;
          begin(event.terms);
        }
        if (since !== null && mayUndo(lastUndoneAt, now)) {
          lastUndoneAt = now;
          const before = live.terms.findLast(({ from }) => from < since);
          for (const each of live.periods) {
            if (before !== undefined && each.from >= since && each.to !== null && each.to <= now)
              each.plan = before.plan;
          }
        }
        break;
      }
      case "pause":
        if (!isActive || live === undefined) break;
        period.to = now;
        live.pauses.push({ from: now, to: null, reason: event.reason });
        break;
      case "resume": {
        const agreed = live?.terms.at(-1);
        if (!isPaused || agreed === undefined) break;
        pause.to = now;
        begin(agreed.plan);
        break;
      }
      case "cancel":
        if (live === undefined) break;
        live.cancelledAt = now;
        if (isActive) period.to = now;
        if (isPaused) pause.to = now;
    }
  }
  return account;
}
