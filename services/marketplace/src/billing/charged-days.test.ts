import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { rounds } from "@ehr-marketplace/test-kit";
import fc from "fast-check";
import { Fraction } from "fraction.js";
import type { Account } from "../subscriptions/account.ts";
import { findChargedDays } from "./charged-days.ts";
import type { Month } from "./month.ts";
import {
  dayPriceOf,
  days,
  firstDay,
  histories,
  minuteMs,
  minutesOfDay,
  months,
  type PricedTerms,
  type PriceHistory,
  type Step,
  terms,
  timeOf,
  toAccount,
} from "./price-histories.test-support.ts";

const zero = new Fraction(0);

const charge = (account: Account<PricedTerms>, month: Month) =>
  findChargedDays(month, account, ({ plan }) => dayPriceOf(plan, new Date(`${month}-01T00:00:00.000Z`)));
const costOf = (account: Account<PricedTerms>, month: Month): Fraction =>
  charge(account, month).reduce((sum, { plan, start }) => sum.add(dayPriceOf(plan, start)), zero);

/** What each minute was, by what decisions.md says, and by nothing that charges. */
function costByTheMinute(history: PriceHistory): Fraction[] {
  const length = days * minutesOfDay;
  const inForce: (PricedTerms | null)[] = Array.from({ length }, () => null);
  const state: ("none" | "active" | "own" | "other")[] = Array.from({ length }, () => "none");
  const trial: boolean[] = Array.from({ length }, () => false);
  let current: PricedTerms | null = null;
  let now: "none" | "active" | "own" | "other" = "none";
  let hadTrial = false;
  let trialUntil = 0;
  let pausedAtLimit: number | null = null;
  let cancelled: { minute: number; wasAtLimitSince: number | null } | null = null;
  const changes: { minute: number; subscribes: boolean }[] = [];
  const fill = (from: number, to: number, as: "own" | "other"): void => void state.fill(as, from, to);
  let next = 0;
  for (let minute = 0; minute < length; minute += 1) {
    for (let step = history[next]; step?.minute === minute; next += 1, step = history[next]) {
      if (step.do === "subscribe" && now === "none") {
        if (cancelled !== null && minute - cancelled.minute < 7 * minutesOfDay) {
          fill(cancelled.minute, minute, "own");
          const since = cancelled.wasAtLimitSince;
          if (since !== null && sameMonth(since, cancelled.minute)) fill(since, cancelled.minute, "own");
        }
        [current, now] = [step.terms, "active"];
        changes.push({ minute, subscribes: true });
        if (step.trialDays > 0 && !hadTrial) [hadTrial, trialUntil] = [true, minute + step.trialDays * minutesOfDay];
        else trialUntil = 0;
      } else if (step.do === "change" && now !== "none") {
        current = step.terms;
        changes.push({ minute, subscribes: false });
      } else if (step.do === "pause" && now === "active") {
        now = step.reason === "ORG_REQUEST" ? "own" : "other";
        pausedAtLimit = step.reason === "SPEND_LIMIT" ? minute : null;
      } else if (step.do === "resume" && (now === "own" || now === "other")) {
        if (pausedAtLimit !== null && sameMonth(pausedAtLimit, minute)) fill(pausedAtLimit, minute, "own");
        [now, pausedAtLimit] = ["active", null];
      } else if (step.do === "cancel" && now !== "none") {
        cancelled = { minute, wasAtLimitSince: pausedAtLimit };
        [now, current, pausedAtLimit] = ["none", null, null];
      }
    }
    inForce[minute] = current;
    state[minute] = now;
    trial[minute] = minute < trialUntil && now !== "none";
  }
  // A gap is in no trial, unless that of the cancelled subscription lasts.
  const firstTrial = trial.indexOf(true);
  if (firstTrial >= 0) {
    const subscribed = history.find((step) => step.do === "subscribe" && step.minute === firstTrial) as
      | Step
      | undefined;
    const end = firstTrial + (subscribed?.do === "subscribe" ? subscribed.trialDays : 0) * minutesOfDay;
    for (
      let minute = firstTrial;
      minute < Math.min(end, length) &&
      !changes.some((each) => each.subscribes && each.minute > firstTrial && each.minute <= minute);
      minute += 1
    )
      trial[minute] = true;
  }

  let lastTakenBack = Number.NEGATIVE_INFINITY;
  const priceAt = (minute: number, at: number): Fraction => dayPriceOf(inForce[minute] as PricedTerms, timeOf(at));
  for (const [index, { minute, subscribes }] of changes.entries()) {
    if (subscribes || inForce[minute] === null || minute - lastTakenBack < 7 * minutesOfDay) continue;
    if (changes[index + 1]?.minute === minute) continue;
    const begin = changes.slice(0, index).findLastIndex((each) => each.subscribes);
    for (const increase of changes.slice(begin + 1, index)) {
      if (minute - increase.minute > 60 || increase.minute === minute) continue;
      const before = priceAt(increase.minute - 1, minute);
      const between = changes.slice(begin + 1, index).filter((each) => each.minute >= increase.minute);
      const isAbove = between.every((each) => priceAt(each.minute, minute).compare(before) > 0);
      if (isAbove && priceAt(minute, minute).compare(before) <= 0) {
        inForce.fill(inForce[increase.minute - 1] as PricedTerms, increase.minute, minute);
        lastTakenBack = minute;
        break;
      }
    }
  }

  const ofDay = Array.from({ length: days }, (_, day) => {
    const seen = new Set<PricedTerms>();
    let isCharged = false;
    for (let minute = day * minutesOfDay; minute < (day + 1) * minutesOfDay; minute += 1) {
      const each = inForce[minute];
      if (!trial[minute] && (state[minute] === "active" || state[minute] === "own")) isCharged = true;
      if (state[minute] === "active" && !trial[minute] && each) seen.add(each);
    }
    return { seen, isCharged };
  });
  return ofDay.map(({ isCharged }, day) => {
    if (!isCharged) return zero;
    const most = ofDay.slice(Math.max(0, day - 6), day + 1).flatMap(({ seen }) => [...seen]);
    const at = new Date(firstDay + day * minutesOfDay * minuteMs);
    return most.map((each) => dayPriceOf(each, at)).reduce((a, b) => (a.compare(b) > 0 ? a : b), zero);
  });
}

const sumOfMonth = (byDay: readonly Fraction[], month: Month): Fraction =>
  byDay
    .filter((_, day) => new Date(firstDay + day * minutesOfDay * minuteMs).toISOString().startsWith(month))
    .reduce((a, b) => a.add(b), zero);

const numRuns = rounds(200, 1_000);

describe("what an account is charged by the day", () => {
  test("is what decisions.md says, calculated by the minute", () => {
    fc.assert(
      fc.property(histories, (history) => {
        const account = toAccount(history);
        const byDay = costByTheMinute(history);
        for (const month of months) {
          assert.equal(costOf(account, month).toFraction(), sumOfMonth(byDay, month).toFraction(), month);
        }
      }),
      { numRuns },
    );
  });

  test("never exceeds what the dearest terms cost that were in force", () => {
    fc.assert(
      fc.property(histories, (history) => {
        const account = toAccount(history);
        const all = account.flatMap(({ periods }) => periods.map(({ plan }) => plan));
        for (const month of months) {
          const full = all.map((plan) =>
            costOf(toAccount([{ minute: 0, do: "subscribe", terms: plan, trialDays: 0 }]), month),
          );
          const most = full.reduce((a, b) => (a.compare(b) > 0 ? a : b), zero);
          assert.ok(costOf(account, month).compare(most) <= 0, month);
        }
      }),
      { numRuns: numRuns / 4 },
    );
  });

  test("stays the same if the same terms are agreed once more", () => {
    fc.assert(
      fc.property(histories, fc.nat({ max: days * minutesOfDay }), (history, minute) => {
        const account = toAccount(history);
        const at = timeOf(minute);
        const split = account.map((subscription) => ({
          ...subscription,
          periods: subscription.periods.flatMap((period) =>
            period.from < at && (period.to === null || at < period.to)
              ? [
                  { ...period, to: at },
                  { ...period, from: at },
                ]
              : [period],
          ),
        }));
        for (const month of months) assert.deepEqual(charge(split, month), charge(account, month));
      }),
      { numRuns: numRuns / 4 },
    );
  });

  const [free, small, large] = terms as [PricedTerms, PricedTerms, PricedTerms];
  const subscribed = { minute: 0, do: "subscribe", terms: large, trialDays: 0 } as const;
  const most = costOf(toAccount([subscribed]), "2027-02").toFraction();
  const reductions: [string, Step, Step][] = [
    ["a pause of its own", { do: "pause", reason: "ORG_REQUEST" }, { do: "resume" }],
    ["a pause at a limit that is raised afterwards", { do: "pause", reason: "SPEND_LIMIT" }, { do: "resume" }],
    ["fewer units or a cheaper plan", { do: "change", terms: small }, { do: "change", terms: large }],
    ["a free plan", { do: "change", terms: free }, { do: "change", terms: large }],
    ["cancelling and subscribing again", { do: "cancel" }, { do: "subscribe", terms: large, trialDays: 14 }],
  ];
  for (const [what, reduce, restore] of reductions) {
    // Who takes an increase back within the hour has forgotten it, once in seven days.
    test(`isn't less for ${what}, in any rhythm of less than seven days`, () => {
      const rhythm = fc.array(
        fc.tuple(fc.integer({ min: 61, max: 2 * minutesOfDay }), fc.integer({ min: 1, max: 7 * minutesOfDay - 1 })),
        { minLength: 5, maxLength: 20 },
      );
      fc.assert(
        fc.property(rhythm, (times) => {
          let minute = 25 * minutesOfDay;
          const history = times.flatMap(([kept, reduced]) => {
            const from = minute + kept;
            minute = from + reduced;
            return [
              { minute: from, ...reduce },
              { minute, ...restore },
            ];
          });
          // A trial of the first subscription is over, so that the next one has none.
          const trial = { minute: 0, do: "subscribe", terms: large, trialDays: 14 } as const;
          // A pause at the limit that lasts beyond the month is over because the limit is.
          const isWithinMonth =
            what !== reductions[1]?.[0] ||
            history.every((each, index) => index % 2 === 0 || sameMonth(history[index - 1]?.minute ?? 0, each.minute));
          if (isWithinMonth) assert.equal(costOf(toAccount([trial, ...history]), "2027-02").toFraction(), most);
        }),
        { numRuns: numRuns / 4 },
      );
    });
  }
});

const sameMonth = (a: number, b: number): boolean => timeOf(a).getUTCMonth() === timeOf(b).getUTCMonth();
