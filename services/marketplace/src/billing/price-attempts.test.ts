import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import { shortenTrial } from "../subscriptions/trial.ts";
import { findChargedDays } from "./charged-days.ts";
import { roundAmount } from "./price.ts";
import {
  dayPriceOf,
  minutesOfDay,
  type PricedTerms,
  type PriceHistory,
  type Step,
  timeOf,
  toAccount,
} from "./price-histories.test-support.ts";

const full: PricedTerms = { id: "full", amount: 30_000, interval: "MONTH" };
const oneSeat: PricedTerms = { id: "one seat", amount: 300, interval: "MONTH" };
const free: PricedTerms = { id: "free", amount: 0, interval: "MONTH" };

/** 1 March 2027 was a Monday. */
const march = 59;
const days = Array.from({ length: 61 }, (_, day) => march + day);
const minuteOf = (day: number, hour: number, minute = 0): number => day * minutesOfDay + hour * 60 + minute;
const subscribe = { do: "subscribe", terms: full, trialDays: 0 } as const;
const change = (terms: PricedTerms): Step => ({ do: "change", terms });

/** Each night, from a time of a day until one of the next. */
const nightly = (reduce: Step, restore: Step, from: [number, number], to: [number, number]): PriceHistory => [
  { minute: minuteOf(march, 8), ...subscribe },
  ...days.flatMap((day) => [
    { minute: minuteOf(day, ...from), ...reduce },
    { minute: minuteOf(day + 1, ...to), ...restore },
  ]),
];

const weekly = (reduce: Step, restore: Step): PriceHistory => [
  { minute: minuteOf(march, 8), ...subscribe },
  ...days
    .filter((day) => (day - march) % 7 === 4)
    .flatMap((friday) => [
      { minute: minuteOf(friday, 18), ...reduce },
      { minute: minuteOf(friday + 3, 8), ...restore },
    ]),
];

const hourly: PriceHistory = [
  { minute: minuteOf(march, 8), ...subscribe, terms: oneSeat },
  ...days.flatMap((day) =>
    Array.from({ length: 24 }, (_, hour) => [
      { minute: minuteOf(day, hour, 5), ...change(full) },
      { minute: minuteOf(day, hour, 55), ...change(oneSeat) },
    ]).flat(),
  ),
].filter(({ minute }) => minute >= minuteOf(march, 8));

/** By name, as in `docs/prices.md`. */
const attempts: Record<string, PriceHistory> = {
  "Nightly pause": nightly({ do: "pause", reason: "ORG_REQUEST" }, { do: "resume" }, [23, 59], [0, 1]),
  "Weekend pause": weekly({ do: "pause", reason: "ORG_REQUEST" }, { do: "resume" }),
  "Seat drop": nightly(change(oneSeat), change(full), [18, 0], [8, 0]),
  "Ladder of short changes": hourly,
  "Midnight flip": nightly(change(free), change(full), [23, 59], [0, 1]),
  Resubscribing: weekly({ do: "cancel" }, subscribe),
  "Limit as a switch": weekly({ do: "pause", reason: "SPEND_LIMIT" }, { do: "resume" }),
  "Trial of another plan": [{ minute: minuteOf(march, 8), ...subscribe, trialDays: 90 }],
};

describe("an attempt to pay less is in vain", () => {
  for (const [name, history] of Object.entries(attempts)) {
    test(name, async () => {
      const [first, ...others] = toAccount(history);
      assert.ok(first !== undefined);
      const changedAt = timeOf(minuteOf(march + 31, 0));
      const trialEndsAt = shortenTrial(first, { trialDays: 0 }, changedAt);
      const account = [{ ...first, trialEndsAt }, ...others];
      const charged = findChargedDays("2027-04", account, ({ plan }) => dayPriceOf(plan, changedAt));
      const cost = charged.map(({ plan, start }) => dayPriceOf(plan, start)).reduce((a, b) => a.add(b));
      assert.equal(roundAmount(cost), 30_000n);
      const document = await readFile(new URL("../../../../docs/prices.md", import.meta.url), "utf8");
      assert.match(document, new RegExp(`\\| ${name} +\\|.*\\| 300\\.00 \\|`));
    });
  }
});
