import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { PricingPlanDto, UsageAggregation } from "@ehr-marketplace/contracts";
import { rounds } from "@ehr-marketplace/test-kit";
import fc from "fast-check";
import type { Account } from "../subscriptions/account.ts";
import type { DatedUsage } from "../usage/read-daily-usage.ts";
import type { StoredRecord } from "../usage/usage-record.ts";
import { chargeMonth } from "./charge-month.ts";
import { openMonth } from "./month-costs.ts";
import { flat, tiers, usage } from "./price.test-support.ts";
import { totalOf } from "./price.ts";

const at = (time: string): Date => new Date(`2027-04-${time}Z`);
const now = at("30T12:00:00");

const planOf = (id: string, aggregation: UsageAggregation, given: Parameters<typeof usage>[0], included = 0) =>
  ({ ...usage(given, included), id, currency: "USD", aggregation }) as PricingPlanDto;
const plans: Record<string, PricingPlanDto> = {
  sum: planOf("sum", "SUM", { amount: "0.7" }, 10),
  graduated: planOf("graduated", "SUM", tiers("GRADUATED", [5, 30], [20, 10, 100], [null, 1])),
  volume: planOf("volume", "SUM", tiers("VOLUME", [5, 30], [20, 10], [null, 1])),
  count: planOf("count", "COUNT", { amount: 3 }),
  max: planOf("max", "MAX", { amount: 2 }),
  latest: planOf("latest", "LATEST", { amount: 2 }),
};

/** On a flat plan for ten days, then on two plans with usage. */
const accountOf = (first: string, second: string): Account<PricingPlanDto> => [
  {
    id: "s",
    createdAt: at("01T00:00:00"),
    cancelledAt: null,
    trialEndsAt: null,
    pauses: [],
    periods: [
      {
        from: at("01T00:00:00"),
        to: at("11T00:00:00"),
        plan: { ...flat(3_000), id: "f" } as PricingPlanDto,
        quantity: null,
      },
      { from: at("11T00:00:00"), to: at("21T00:00:00"), plan: plans[first] as PricingPlanDto, quantity: null },
      { from: at("21T00:00:00"), to: null, plan: plans[second] as PricingPlanDto, quantity: null },
    ],
  },
];

const record = (planId: string, day: number, quantity: number): StoredRecord => ({
  id: `${planId} ${day} ${quantity}`,
  occurredAt: at(`${String(day).padStart(2, "0")}T10:00:00`),
  metric: "notes",
  quantity: BigInt(quantity) * 1_000_000n,
  aggregation: plans[planId]?.aggregation ?? "SUM",
  planId,
  isTrial: false,
  voided: false,
});

/** The day of each record by itself, as if each were aggregated to a day's row. */
const toDays = (records: readonly StoredRecord[]): DatedUsage[] =>
  records
    .toSorted((a, b) => a.occurredAt.getTime() - b.occurredAt.getTime())
    .map(({ occurredAt, quantity, planId, metric, aggregation }) => ({
      subscriptionId: "s",
      day: occurredAt.toISOString().slice(0, 10),
      planId,
      isTrial: false,
      metric,
      aggregation,
      quantity: aggregation === "COUNT" ? "1" : String(quantity / 1_000_000n),
      latestAt: occurredAt,
    }));

const names = Object.keys(plans);
const history = fc.record({
  first: fc.constantFrom(...names),
  second: fc.constantFrom(...names),
  limit: fc.nat({ max: 3_000 }),
  used: fc.array(fc.record({ isLater: fc.boolean(), day: fc.nat({ max: 9 }), quantity: fc.nat({ max: 60 }) }), {
    maxLength: 12,
  }),
  known: fc.nat({ max: 12 }),
});

describe("the costs of a month to which usage is added", () => {
  test("are those that it would be charged for, and never exceed the limit by what is added", () => {
    fc.assert(
      fc.property(history, ({ first, second, limit, used, known }) => {
        const account = accountOf(first, second);
        const records = used.map(({ isLater, day, quantity }) =>
          record(isLater ? second : first, (isLater ? 21 : 11) + day, quantity),
        );
        const cost = (of: readonly StoredRecord[]): bigint =>
          totalOf(chargeMonth({ month: "2027-04", account, usage: toDays(of) }, now));
        const counted = records.slice(0, known);
        const months = openMonth({ month: "2027-04", account, usage: toDays(counted), subscriptionId: "s" }, now)();
        assert.equal(months.total(), cost(counted));
        for (const each of records.slice(known)) {
          const before = cost(counted);
          // A latest value can be taken back, and then an earlier one counts.
          const last = each.aggregation === "LATEST" ? { ...each, occurredAt: at("30T11:00:00") } : each;
          const after = cost([...counted, last]);
          const refusedAt = months.addBelow(BigInt(limit), each);
          assert.equal(refusedAt, after > BigInt(limit) && after > before ? after : null);
          if (refusedAt === null) counted.push(each);
          assert.equal(months.total(), cost(counted));
        }
      }),
      { numRuns: rounds(300, 10_000) },
    );
  });

  test("fall with what a batch takes back, unless another value may remain", () => {
    const costs = openMonth(
      { month: "2027-04", account: accountOf("sum", "max"), usage: [], subscriptionId: "s" },
      now,
    )();
    const days = costs.total();
    for (const each of [record("sum", 12, 110), record("max", 22, 50)]) costs.add(each);
    assert.equal(costs.total(), days + 70n + 100n);
    costs.remove(record("sum", 12, 110));
    costs.remove(record("max", 22, 50));
    assert.equal(costs.total(), days + 100n);
  });

  test("refuse a latest value above the limit also where a later one follows it, because that can be taken back", () => {
    const begin = () =>
      openMonth({ month: "2027-04", account: accountOf("latest", "latest"), usage: [], subscriptionId: "s" }, now)();
    const [costs, peaks] = [
      begin(),
      openMonth(
        { month: "2027-04", account: accountOf("latest", "latest"), usage: [], subscriptionId: "s" },
        now,
      )({ byPeak: true }),
    ];
    const limit = costs.total() + 100n;
    for (const each of [costs, peaks]) each.add(record("latest", 25, 10));
    const total = costs.total();
    assert.equal(costs.addBelow(limit, record("latest", 24, 900)), total + 1_780n);
    assert.equal(costs.addBelow(limit, record("latest", 24, 40)), null);
    assert.equal(costs.total(), total, "it is superseded");
    peaks.add(record("latest", 24, 900));
    assert.equal(peaks.total(), total + 1_780n);
  });

  test("don't grow with usage of a trial", () => {
    const costs = openMonth(
      { month: "2027-04", account: accountOf("sum", "sum"), usage: [], subscriptionId: "s" },
      now,
    )();
    const before = costs.total();
    assert.equal(costs.addBelow(0n, { ...record("sum", 12, 1_000), isTrial: true }), null);
    assert.equal(costs.total(), before);
  });
});
