import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { AppDto, PricingPlanDto } from "@ehr-marketplace/contracts";
import {
  describeIncluded,
  describeLine,
  describePlanPrice,
  describeStartingPrice,
  describeTierMode,
  describeTiers,
  findReachedTiers,
} from "./describe-price.ts";

const plan: PricingPlanDto = {
  id: "1",
  name: "Plan",
  description: "",
  pricingModel: "FLAT",
  currency: "USD",
  amount: 4_900,
  interval: "MONTH",
  trialDays: 0,
  unitName: null,
  includedUnits: null,
  tiers: [],
  tierMode: null,
  metric: null,
  aggregation: null,
  features: [],
};
const priceOf = (changes: Partial<PricingPlanDto>): string => {
  const { amount, per } = describePlanPrice({ ...plan, ...changes });
  return `${amount} ${per}`.trim();
};

test("every price has its interval and what it counts", () => {
  assert.equal(priceOf({}), "$49.00 per month");
  assert.equal(priceOf({ interval: "YEAR" }), "$49.00 per year");
  assert.equal(priceOf({ pricingModel: "PER_UNIT", unitName: "provider" }), "$49.00 per provider, per month");
  assert.equal(
    priceOf({ pricingModel: "USAGE", amount: "0.45", metric: "api_calls", interval: null }),
    "$0.0045 each (api calls)",
  );
  assert.equal(priceOf({ pricingModel: "FREE", amount: null, interval: null }), "Free");
});

test("tiers name their units, their price and its interval", () => {
  const tiers = [
    { upTo: 1_000, unitAmount: 0, flatAmount: 90_000 },
    { upTo: 5_000, unitAmount: 75, flatAmount: 0 },
    { upTo: null, unitAmount: "0.5", flatAmount: 100 },
  ];
  assert.deepEqual(describeTiers({ ...plan, pricingModel: "TIERED", unitName: "referral", tiers }), [
    "1 to 1,000: $900.00 per month",
    "1,001 to 5,000: $0.75 per referral, per month",
    "5,001 and more: $1.00 per month + $0.005 per referral, per month",
  ]);
  const [first] = describeTiers({ ...plan, pricingModel: "USAGE", metric: "message", interval: null, tiers });
  assert.equal(first, "1 to 1,000: $900.00 per month");
});

test("a list shows the lowest price, or how it is charged if there is none", () => {
  const amountOf = (app: Pick<AppDto, "startingPrice" | "pricingModels">) =>
    describeStartingPrice(app as AppDto).amount;
  const startingPrice = { amount: 4_900, currency: "USD", interval: "MONTH" } as const;
  assert.equal(amountOf({ startingPrice, pricingModels: ["FLAT"] }), "From $49.00");
  assert.equal(amountOf({ startingPrice: { ...startingPrice, amount: 0 }, pricingModels: ["FREE"] }), "Free");
  const perOf = (...pricingModels: AppDto["pricingModels"]) =>
    describeStartingPrice({ startingPrice, pricingModels } as AppDto).per;
  assert.equal(perOf("FLAT", "USAGE"), "per month");
  assert.equal(perOf("PER_UNIT"), "per unit, per month");
  assert.equal(perOf("FLAT", "PER_UNIT"), "per month, some plans per unit");
  assert.equal(amountOf({ startingPrice: null, pricingModels: ["USAGE"] }), "By usage");
  assert.equal(amountOf({ startingPrice: null, pricingModels: ["TIERED"] }), "By volume");
});

describe("a plan with tiers", () => {
  const tiered = (...tiers: PricingPlanDto["tiers"]): Partial<PricingPlanDto> => ({
    pricingModel: "TIERED",
    amount: null,
    unitName: "bed",
    tierMode: "VOLUME",
    tiers,
  });
  const first = { upTo: 10, unitAmount: 1_000, flatAmount: 0 };
  const last = { upTo: null, unitAmount: 800, flatAmount: 0 };

  test("has the lowest and the highest price of its tiers as its short price", () => {
    assert.equal(priceOf(tiered(first, last)), "$8.00 to $10.00 per bed, per month, by volume");
    assert.equal(priceOf({ ...tiered(first, last), interval: "YEAR" }), "$8.00 to $10.00 per bed, per year, by volume");
    assert.equal(priceOf(tiered(last)), "$8.00 per bed, per month");
    assert.equal(priceOf(tiered({ ...first, unitAmount: 0 }, last)), "Up to $8.00 per bed, per month, by volume");
    const usage = {
      ...tiered(first, { ...last, unitAmount: "7.5" }),
      pricingModel: "USAGE",
      metric: "fax_pages",
    } as const;
    assert.equal(priceOf(usage), "$0.075 to $10.00 each (fax pages), by volume");
    assert.equal(priceOf(tiered({ ...last, unitAmount: 0 })), "Free");
  });

  test("has its fixed amounts in it: that of one tier by volume, those of all up to it if graduated", () => {
    const fixed = { upTo: 10, unitAmount: 0, flatAmount: 3_900 };
    const graduated = { ...tiered(fixed, last), tierMode: "GRADUATED" } as const;
    assert.equal(priceOf(graduated), "$39.00 per month + up to $8.00 per bed, per month, by volume");
    assert.equal(priceOf(tiered(fixed, last)), "Up to $39.00 per month + up to $8.00 per bed, per month, by volume");
    const both = [
      { ...first, flatAmount: 700 },
      { ...last, flatAmount: 500 },
    ];
    const units = "per month + $8.00 to $10.00 per bed, per month, by volume";
    assert.equal(priceOf(tiered(...both)), `$5.00 to $7.00 ${units}`);
    assert.equal(priceOf({ ...tiered(...both), tierMode: "GRADUATED" }), `$7.00 to $12.00 ${units}`);
    assert.equal(priceOf({ ...tiered(fixed), pricingModel: "USAGE", interval: "YEAR" }), "$39.00 per month");
  });

  test("says how its tiers are applied", () => {
    const mode = (changes: Partial<PricingPlanDto>) => describeTierMode({ ...plan, ...changes });
    assert.match(mode(tiered(first, last)) ?? "", /counts for all of it, from the first on\.$/);
    assert.match(
      mode({ ...tiered(first, last), tierMode: "GRADUATED" }) ?? "",
      /only for what is in that tier.*below it\.$/,
    );
    const fixed = { ...tiered({ ...first, flatAmount: 1 }, last), tierMode: "GRADUATED", includedUnits: 5 } as const;
    assert.match(mode(fixed) ?? "", /fixed amount of each tier that is reached.*taken off before tiers are counted\.$/);
    assert.equal(mode({}), undefined);
  });

  test("is reached by units beyond those that are included: one tier by volume, all below it if graduated", () => {
    const reach = (units: number, changes: Partial<PricingPlanDto>) =>
      findReachedTiers({ ...plan, ...tiered(first, last), ...changes }, units);
    assert.deepEqual([reach(10, {}), reach(11, {})], [[first], [last]]);
    assert.deepEqual(
      [reach(10, { tierMode: "GRADUATED" }), reach(11, { tierMode: "GRADUATED" })],
      [[first], [first, last]],
    );
    assert.deepEqual([reach(5, { includedUnits: 5 }), reach(15, { includedUnits: 5 })], [[], [first]]);
  });
});

test("a line of an estimate is in words, with its days", () => {
  assert.equal(
    describeLine("By the page, fax_pages, above 100, flat"),
    "By the page, fax pages, above 100, fixed amount",
  );
  assert.equal(
    describeLine("Team, bed, 1 to 5, flat, 12 of 30 days"),
    "Team, bed, 1 to 5, fixed amount, 12 of 30 days",
  );
  assert.equal(describeLine("A flat, quiet"), "A flat, quiet");
});

test("what a plan includes is said with its unit, and for each month if it is usage", () => {
  const included = (changes: Partial<PricingPlanDto>) =>
    describeIncluded({ ...plan, includedUnits: 1_300, ...changes });
  assert.equal(included({ pricingModel: "PER_UNIT", unitName: "staff member" }), "Included: 1,300 × staff member.");
  assert.equal(included({ pricingModel: "USAGE", metric: "fax_pages" }), "Included each month: 1,300 fax pages.");
  assert.deepEqual([included({ includedUnits: null }), included({ includedUnits: 0 })], [undefined, undefined]);
});
