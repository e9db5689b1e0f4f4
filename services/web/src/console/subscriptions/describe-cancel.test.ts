import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ListedSubscriptionDto } from "@ehr-marketplace/client/marketplace";
import { describeFinality, describeLastCosts } from "./describe-cancel.ts";

const now = new Date("2026-11-18T15:00:00Z");
const withModel = (pricingModel: "FLAT" | "USAGE", trialEndsAt: string | null = null) =>
  ({ pricingPlan: { pricingModel }, trialEndsAt }) as Pick<ListedSubscriptionDto, "pricingPlan" | "trialEndsAt">;
const line = (days: number | null) => ({
  description: "Plan",
  quantity: "1",
  unitAmount: 100,
  days,
  intervalDays: days === null ? null : 30,
  amount: 100,
});
const estimate = (days: number | null) => ({
  data: { month: "2026-11", currency: "USD", total: 1_250, lines: [line(days)] },
  isError: false,
});

describe("what is still to be paid of a cancelled subscription", () => {
  test("is the month until today if its price is fixed", () => {
    assert.deepEqual(describeLastCosts(withModel("FLAT"), estimate(18), now), [
      "You pay $12.50 for November 2026 (UTC), today included.",
    ]);
  });

  test("may be more if it is by usage, which is reported up to 35 days later", () => {
    const [soFar, late, ...rest] = describeLastCosts(withModel("USAGE"), estimate(null), now);
    assert.equal(soFar, "November 2026 (UTC) has cost $12.50 so far, today included.");
    assert.match(late ?? "", /up to 35 days later.*appear on a statement/);
    assert.deepEqual(rest, []);
    // Of a plan by usage, which was changed to a fixed price in this month.
    assert.deepEqual(describeLastCosts(withModel("FLAT"), estimate(null), now), [soFar, late]);
  });

  test("is nothing more during a trial, whose usage is free", () => {
    const free = { data: { month: "2026-11", currency: "USD", total: 0, lines: [] }, isError: false };
    for (const trialEndsAt of ["2026-12-01T09:00:00.000Z", "2026-11-18T15:00:01.000Z"]) {
      const trial = withModel("USAGE", trialEndsAt);
      assert.deepEqual(describeLastCosts(trial, free, now), ["You pay $0.00 for November 2026 (UTC), today included."]);
      assert.deepEqual(describeLastCosts(trial, { data: undefined, isError: false }, now), []);
      assert.equal(describeLastCosts(trial, { data: undefined, isError: true }, now).length, 1);
    }
    for (const trialEndsAt of ["2026-11-18T15:00:00.000Z", "2026-11-17T09:00:00.000Z"]) {
      const [soFar, late] = describeLastCosts(withModel("USAGE", trialEndsAt), estimate(null), now);
      assert.match(soFar ?? "", /so far/);
      assert.match(late ?? "", /up to 35 days later/);
    }
  });

  test("is said to be unknown if it can't be loaded, but not while it is loaded", () => {
    const [unknown, ...rest] = describeLastCosts(withModel("FLAT"), { data: undefined, isError: true }, now);
    assert.match(unknown ?? "", /can't be shown at the moment/);
    assert.deepEqual(rest, []);
    assert.equal(describeLastCosts(withModel("USAGE"), { data: undefined, isError: true }, now).length, 2);
    assert.deepEqual(describeLastCosts(withModel("FLAT"), { data: undefined, isError: false }, now), []);
  });
});

test("who cancels during a pause of the marketplace is told that it blocks, and nobody else", () => {
  for (const pauseReason of ["NON_PAYMENT", "OPERATOR_HOLD", "SECURITY"] as const) {
    assert.match(describeFinality({ pauseReason, trialEndsAt: null }), /until the marketplace lifts the block/);
  }
  for (const pauseReason of [null, "ORG_REQUEST", "SPEND_LIMIT"] as const) {
    assert.match(describeFinality({ pauseReason, trialEndsAt: null }), /Subscribing again begins a new subscription/);
  }
});

test("who cancels what had a trial is told that there is no second one, and nobody else", () => {
  const finality = (trialEndsAt: string | null) => describeFinality({ pauseReason: null, trialEndsAt });
  assert.match(finality("2026-11-01T09:00:00.000Z"), /begins a new subscription, without a trial; within seven days/);
  assert.match(finality(null), /begins a new subscription; within seven days/);
});
