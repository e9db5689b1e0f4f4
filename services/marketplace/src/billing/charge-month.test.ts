import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { PricingPlanDto, UsageAggregation } from "@ehr-marketplace/contracts";
import fc from "fast-check";
import type { ActivePeriod } from "../subscriptions/account.ts";
import type { PlanUsage } from "../usage/read-daily-usage.ts";
import { type BilledMonth, chargeMonth, estimateMonth } from "./charge-month.ts";
import { flat, perUnit, tiers, usage as usagePlan } from "./price.test-support.ts";
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
const id = "the subscription";

interface Agreed {
  from: Date;
  plan: PricingPlanDto;
  quantity: number | null;
}
const agreed = (from: Date, plan: PricingPlanDto, quantity: number | null = null): Agreed => ({ from, plan, quantity });

interface Given {
  terms: readonly Agreed[];
  pauses: readonly { from: Date; to: Date | null }[];
  trialEndsAt: Date | null;
  cancelledAt: Date | null;
}

/** Terms, without the pauses in them. */
function periodsOf({ terms, pauses, cancelledAt }: Given): ActivePeriod<PricingPlanDto>[] {
  return terms.flatMap(({ from, ...each }, index) => {
    const to = terms[index + 1]?.from ?? cancelledAt;
    const pause = pauses.find((given) => given.from >= from && (to === null || given.from < to));
    if (pause === undefined) return [{ from, to, ...each }];
    const rest = pause.to === null ? [] : [{ from: pause.to, to, ...each }];
    return [{ from, to: pause.from, ...each }, ...rest];
  });
}

const used = (
  day: number,
  quantity: string,
  { plan = notes(), isTrial = false, of = id }: { plan?: PricingPlanDto; isTrial?: boolean; of?: string } = {},
): PlanUsage => ({
  subscriptionId: of,
  day: at(day).toISOString().slice(0, 10),
  planId: plan.id,
  isTrial,
  metric: "notes",
  aggregation: plan.aggregation ?? "SUM",
  quantity,
});

function april(given: Partial<Given>, usage: PlanUsage[] = []): BilledMonth {
  const all: Given = { terms: [agreed(march, practice)], pauses: [], trialEndsAt: null, cancelledAt: null, ...given };
  const { trialEndsAt, cancelledAt } = all;
  const pauses = all.pauses.map((pause) => ({ ...pause, reason: "ORG_REQUEST" }));
  const createdAt = all.terms[0]?.from ?? march;
  const account = [{ id, createdAt, cancelledAt, trialEndsAt, periods: periodsOf(all), pauses }];
  return { month: "2027-04", account, usage };
}
const amounts = (billed: BilledMonth): bigint[] => chargeMonth(billed).map(({ amount }) => amount);
const estimate = (billed: BilledMonth, now: Date): bigint[] => {
  const { lines, projected } = estimateMonth(billed, now);
  return [totalOf(lines), totalOf(projected)];
};

describe("a month costs", () => {
  test("its days with each plan and quantity: more from the day of the change, less after seven days", () => {
    const terms = [agreed(march, practice), agreed(at(10), team, 10), agreed(at(20), team, 2)] as const;
    // 9 days, 17 days with 10 seats, of which 6 are after the change to 2, and 4 days.
    assert.deepEqual(amounts(april({ terms })), [900n, 3_400n, 160n]);
  });

  for (const [aggregation, expected] of [
    ["SUM", 10n * (4n + 9n + 2n - 5n)],
    ["COUNT", 10n * (4n + 9n + 2n - 5n)],
    ["MAX", 10n * (9n - 5n)],
    ["LATEST", 0n],
  ] as const) {
    test(`the ${aggregation} of its days above what the plan includes`, () => {
      const plan = notes(aggregation);
      const days = [used(3, "4", { plan }), used(5, "9", { plan }), used(7, "2", { plan })];
      assert.equal(totalOf(chargeMonth(april({ terms: [agreed(march, plan)] }, days))), expected);
    });
  }

  const other = (aggregation: UsageAggregation = "SUM", amount = 20): PricingPlanDto =>
    toDto("other", usagePlan({ amount }, 6), aggregation);

  test("usage by the plan that was in force, from midnight or not, and nobody gets included units twice", () => {
    const terms = [agreed(march, notes()), agreed(at(10), other())] as const;
    // 7 notes of which 5 are included, then the 8th to the 10th, of which none is among the first 6.
    assert.deepEqual(amounts(april({ terms }, [used(10, "7"), used(10, "3", { plan: other() })])), [20n, 60n]);
    // 2 notes of 5 that are included; of the other plan's first 6, 4 are left.
    assert.deepEqual(amounts(april({ terms }, [used(10, "2"), used(10, "7", { plan: other() })])), [60n]);
    const there = agreed(at(12), notes());
    const back = [used(1, "3"), used(11, "9", { plan: other() }), used(13, "4")];
    assert.deepEqual(amounts(april({ terms: [...terms, there] }, back)), [20n, 20n * (16n - 7n)]);
  });

  test("a tier's flat amount once for each plan, also after units of another one", () => {
    const byTheNote = { ...notes(), id: "by the note", includedUnits: null };
    const packet = toDto("packet", usagePlan(tiers("GRADUATED", [1_000, 0, 5_000], [null, 0, 9_000])), "SUM");
    const terms = [agreed(march, byTheNote), agreed(at(2), packet)] as const;
    const first = used(1, "1", { plan: byTheNote });
    assert.deepEqual(amounts(april({ terms }, [first, used(3, "999", { plan: packet })])), [10n, 5_000n]);
    assert.deepEqual(amounts(april({ terms }, [first, used(3, "1000", { plan: packet })])), [10n, 5_000n, 9_000n]);
  });

  for (const [aggregation, expected] of [
    ["MAX", 20n * (50n - 6n)],
    ["LATEST", 20n * (8n - 6n)],
  ] as const) {
    test(`a ${aggregation} once, by the plan for which it costs the most`, () => {
      const [cheap, dear] = [notes(aggregation), other(aggregation)];
      const terms = [agreed(march, dear), agreed(at(10), cheap)] as const;
      const days = [used(3, "2", { plan: dear }), used(11, "50", { plan: cheap }), used(12, "8", { plan: cheap })];
      assert.deepEqual(amounts(april({ terms }, days)), [expected]);
    });
  }

  test("what two subscriptions cost that follow each other, each day once, with units that are included once", () => {
    const plan = { ...notes(), includedUnits: 5 };
    const usage = [used(3, "4", { plan }), used(20, "4", { plan, of: "the next" })];
    const first = { id, createdAt: march, cancelledAt: at(15), trialEndsAt: null, pauses: [] };
    const next = { id: "the next", createdAt: at(18), cancelledAt: null, trialEndsAt: null, pauses: [] };
    const account = (of: PricingPlanDto) => [
      { ...first, periods: [{ from: march, to: at(15), plan: of, quantity: null }] },
      { ...next, periods: [{ from: at(18), to: null, plan: of, quantity: null }] },
    ];
    const charged = (billed: BilledMonth) =>
      chargeMonth(billed).map(({ subscriptionId, amount }) => [subscriptionId, amount]);
    assert.deepEqual(charged({ month: "2027-04", account: account(plan), usage }), [["the next", 30n]]);
    assert.deepEqual(charged({ month: "2027-04", account: account(practice), usage: [] }), [
      [id, 1_700n],
      ["the next", 1_300n],
    ]);
  });

  test("nothing for usage of a trial", () => {
    const terms = [agreed(at(1), notes())] as const;
    const usage = [used(5, "100", { isTrial: true }), used(5, "6")];
    assert.deepEqual(amounts(april({ terms, trialEndsAt: at(5) }, usage)), [10n]);
  });

  test("nothing for another metric or aggregation", () => {
    const usage = [{ ...used(3, "100"), planId: "pages", metric: "pages" }];
    assert.deepEqual(amounts(april({ terms: [agreed(march, notes())] }, usage)), []);
  });
});

describe("an estimate", () => {
  test("has the days so far, today included, and projects the whole month", () => {
    assert.deepEqual(estimate(april({}), at(10)), [1_000n, 3_000n]);
  });

  test("projects usage at its rate until now", () => {
    const billed = april({ terms: [agreed(march, notes())] }, [used(1, "10"), used(3, "10")]);
    // 20 notes in 5 days are 120 in 30.
    assert.deepEqual(estimate(billed, at(6, "00:00")), [150n, 1_150n]);
  });

  test("doesn't multiply the first hours of a month beyond a day", () => {
    const billed = april({ terms: [agreed(march, notes())] }, [used(1, "10")]);
    assert.equal(estimate(billed, at(1, "00:10"))[1], 10n * (300n - 5n));
  });

  for (const aggregation of ["MAX", "LATEST"] as const) {
    test(`keeps the ${aggregation}`, () => {
      const plan = notes(aggregation);
      const billed = april({ terms: [agreed(march, plan)] }, [used(1, "10", { plan })]);
      assert.equal(estimate(billed, at(2))[1], 50n);
    });
  }

  test("of a trial has the rate of the trial's usage", () => {
    const usage = [1, 2, 3].map((day) => used(day, "100", { isTrial: true }));
    const billed = april({ terms: [agreed(at(1, "00:00"), notes())], trialEndsAt: at(5, "00:00") }, usage);
    // 100 a day from the 5th on: 26 days.
    assert.deepEqual(estimate(billed, at(4, "00:00")), [0n, 10n * (2_600n - 5n)]);
  });

  test("after a change of plan has the rate of the metric before it", () => {
    const plan = { ...toDto("other", usagePlan({ amount: 20 })), aggregation: "SUM" as const };
    const usage = Array.from({ length: 10 }, (_, index) => used(index + 1, "100"));
    const billed = april({ terms: [agreed(march, notes()), agreed(at(10), plan)] }, usage);
    assert.deepEqual(estimate(billed, at(11, "00:00")), [9_950n, 9_950n + 20n * 2_000n]);
  });

  test("of usage doesn't grow after a cancellation or a pause of today", () => {
    for (const given of [{ pauses: [{ from: at(2, "12:00"), to: null }] }, { cancelledAt: at(2, "12:00") }]) {
      const billed = april({ terms: [agreed(march, notes())], ...given }, [used(1, "100"), used(2, "20")]);
      assert.deepEqual(estimate(billed, at(2, "13:00")), [1_150n, 1_150n]);
    }
  });

  test("of a paused subscription grows for seven days, that of a cancelled one doesn't", () => {
    assert.deepEqual(estimate(april({ pauses: [{ from: at(5), to: null }] }), at(8)), [800n, 1_100n]);
    assert.deepEqual(estimate(april({ pauses: [{ from: at(5), to: null }] }), at(20)), [1_100n, 1_100n]);
    assert.deepEqual(estimate(april({ cancelledAt: at(5, "23:00") }), at(10)), [500n, 500n]);
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
          const { lines, projected } = estimateMonth(billed, new Date("2027-04-30T23:59:59.999Z"));
          assert.deepEqual(lines, chargeMonth(billed));
          assert.ok(totalOf(projected) >= totalOf(lines));
        },
      ),
    );
  });
});
