import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { PricingPlanDto, UsageAggregation } from "@ehr-marketplace/contracts";
import fc from "fast-check";
import type { Terms } from "../subscriptions/terms.ts";
import type { DailyUsage } from "../usage/read-daily-usage.ts";
import { type BilledMonth, chargeMonth, estimateMonth } from "./charge-month.ts";
import { flat, perUnit, usage as usagePlan } from "./price.test-support.ts";
import type { PricedPlan } from "./price.ts";
import { totalOf } from "./price.ts";

const toDto = (id: string, plan: PricedPlan, aggregation: UsageAggregation | null = null): PricingPlanDto => ({
  ...plan,
  id,
  aggregation,
  currency: "USD",
  description: "",
  trialDays: 0,
  features: [],
});
const practice = toDto("practice", flat(3_000));
const team = toDto("team", perUnit(600));
const notes = (aggregation: UsageAggregation = "SUM"): PricingPlanDto =>
  toDto("notes", usagePlan({ amount: 10 }, 5), aggregation);

const at = (day: number, time = "10:00"): Date => new Date(`2027-04-${String(day).padStart(2, "0")}T${time}:00.000Z`);
const march = new Date("2027-03-20T08:00:00.000Z");
const agreed = (from: Date, plan: PricingPlanDto, quantity: number | null = null): Terms<PricingPlanDto> => ({
  from,
  plan,
  quantity,
});
const used = (day: number, quantity: string, aggregation: UsageAggregation = "SUM"): DailyUsage => ({
  day: at(day).toISOString().slice(0, 10),
  metric: "notes",
  aggregation,
  quantity,
});
const april = (given: Partial<BilledMonth["history"]>, usage: DailyUsage[] = []): BilledMonth => ({
  month: "2027-04",
  history: { terms: [agreed(march, practice)], pauses: [], trialEndsAt: null, cancelledAt: null, ...given },
  usage,
});
const amounts = (billed: BilledMonth): bigint[] => chargeMonth(billed).map(({ amount }) => amount);

describe("a month costs", () => {
  test("its days with each plan and quantity", () => {
    const terms = [agreed(march, practice), agreed(at(10), team, 2), agreed(at(20), team, 3)] as const;
    assert.deepEqual(amounts(april({ terms })), [1_000n, 400n, 600n]);
  });

  for (const [aggregation, expected] of [
    ["SUM", 10n * (4n + 9n + 2n - 5n)],
    ["COUNT", 10n * (4n + 9n + 2n - 5n)],
    ["MAX", 10n * (9n - 5n)],
    ["LATEST", 0n],
  ] as const) {
    test(`the ${aggregation} of its days above what the plan includes`, () => {
      const days = [used(3, "4", aggregation), used(5, "9", aggregation), used(7, "2", aggregation)];
      assert.equal(totalOf(chargeMonth(april({ terms: [agreed(march, notes(aggregation))] }, days))), expected);
    });
  }

  test("usage by the plan of its day: what a plan includes counts once for each", () => {
    const other = { ...toDto("other", usagePlan({ amount: 20 }, 1)), aggregation: "SUM" as const };
    const terms = [agreed(march, notes()), agreed(at(10), other)] as const;
    // On the 10th the plan is still the first one.
    assert.deepEqual(amounts(april({ terms }, [used(10, "7"), used(11, "3")])), [20n, 40n]);
  });

  test("nothing for usage of a trial, and usage after a pause on the day that began in it", () => {
    const terms = [agreed(at(1), notes())] as const;
    assert.deepEqual(amounts(april({ terms, trialEndsAt: at(5) }, [used(5, "100"), used(6, "6")])), [10n]);
    assert.deepEqual(amounts(april({ terms, pauses: [{ from: at(3), to: at(6) }] }, [used(6, "6")])), [10n]);
  });

  test("nothing for another metric or aggregation", () => {
    const usage = [{ ...used(3, "100"), metric: "pages" }, used(4, "100", "MAX")];
    assert.deepEqual(amounts(april({ terms: [agreed(march, notes())] }, usage)), []);
  });
});

describe("an estimate", () => {
  test("has the days so far, today included, and projects the whole month", () => {
    const { total, projectedTotal } = estimateMonth(april({}), at(10));
    assert.deepEqual([total, projectedTotal], [1_000n, 3_000n]);
  });

  test("projects usage at its rate until now", () => {
    const billed = april({ terms: [agreed(march, notes())] }, [used(1, "10"), used(3, "10")]);
    // 20 notes in 5 days are 120 in 30.
    const { total, projectedTotal } = estimateMonth(billed, at(6, "00:00"));
    assert.deepEqual([total, projectedTotal], [150n, 1_150n]);
  });

  test("doesn't multiply the first hours of a month beyond a day", () => {
    const billed = april({ terms: [agreed(march, notes())] }, [used(1, "10")]);
    assert.equal(estimateMonth(billed, at(1, "00:10")).projectedTotal, 10n * (300n - 5n));
  });

  for (const aggregation of ["MAX", "LATEST"] as const) {
    test(`keeps the ${aggregation}`, () => {
      const billed = april({ terms: [agreed(march, notes(aggregation))] }, [used(1, "10", aggregation)]);
      assert.equal(estimateMonth(billed, at(2)).projectedTotal, 50n);
    });
  }

  test("of a trial has the rate of the trial's usage", () => {
    const usage = [1, 2, 3].map((day) => used(day, "100"));
    const billed = april({ terms: [agreed(at(1, "00:00"), notes())], trialEndsAt: at(5, "00:00") }, usage);
    // 100 a day from the 5th on: 26 days.
    const { total, projectedTotal } = estimateMonth(billed, at(4, "00:00"));
    assert.deepEqual([total, projectedTotal], [0n, 10n * (2_600n - 5n)]);
  });

  test("after a change of plan has the rate of the metric before it", () => {
    const other = { ...toDto("other", usagePlan({ amount: 20 })), aggregation: "SUM" as const };
    const usage = Array.from({ length: 10 }, (_, index) => used(index + 1, "100"));
    const billed = april({ terms: [agreed(march, notes()), agreed(at(10), other)] }, usage);
    const { total, projectedTotal } = estimateMonth(billed, at(11, "00:00"));
    assert.deepEqual([total, projectedTotal], [9_950n, 9_950n + 20n * 2_000n]);
  });

  test("of usage doesn't grow after a cancellation or a pause of today", () => {
    for (const given of [{ pauses: [{ from: at(2, "12:00"), to: null }] }, { cancelledAt: at(2, "12:00") }]) {
      const billed = april({ terms: [agreed(march, notes())], ...given }, [used(1, "100"), used(2, "20")]);
      const { total, projectedTotal } = estimateMonth(billed, at(2, "13:00"));
      assert.deepEqual([total, projectedTotal], [1_150n, 1_150n]);
    }
  });

  test("of a paused or cancelled subscription doesn't grow", () => {
    for (const given of [{ pauses: [{ from: at(5), to: null }] }, { cancelledAt: at(5, "23:00") }]) {
      const { total, projectedTotal } = estimateMonth(april(given), at(10));
      assert.deepEqual([total, projectedTotal], [500n, 500n]);
    }
  });

  test("on the month's last moment is the month's charge, whatever happened", () => {
    const day = fc.integer({ min: 1, max: 30 });
    fc.assert(
      fc.property(
        fc.array(fc.record({ day, quantity: fc.nat({ max: 50 }) })),
        day,
        fc.option(day),
        fc.option(day),
        (records, changed, pausedOn, cancelledOn) => {
          const usage = records
            .toSorted((a, b) => a.day - b.day)
            .map(({ day: on, quantity }) => used(on, String(quantity)));
          const billed = april(
            {
              terms: [agreed(march, practice), agreed(at(changed), notes())],
              pauses: pausedOn === null ? [] : [{ from: at(pausedOn), to: null }],
              cancelledAt: cancelledOn === null ? null : at(cancelledOn, "23:00"),
            },
            usage,
          );
          const { lines, total, projectedTotal } = estimateMonth(billed, new Date("2027-04-30T23:59:59.999Z"));
          assert.deepEqual(lines, chargeMonth(billed));
          assert.ok(projectedTotal >= total);
        },
      ),
    );
  });
});
