import assert from "node:assert/strict";
import { test } from "node:test";
import type { AppDto, PricingPlanDto } from "@ehr-marketplace/contracts";
import { describePlanPrice, describeStartingPrice, describeTiers } from "./describe-price.ts";

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
  const describe = (app: Pick<AppDto, "startingPrice" | "pricingModels">) =>
    describeStartingPrice(app as AppDto).amount;
  const startingPrice = { amount: 4_900, currency: "USD", interval: "MONTH" } as const;
  assert.equal(describe({ startingPrice, pricingModels: ["FLAT"] }), "From $49.00");
  assert.equal(describe({ startingPrice: { ...startingPrice, amount: 0 }, pricingModels: ["FREE"] }), "Free");
  assert.equal(describe({ startingPrice: null, pricingModels: ["USAGE"] }), "By usage");
  assert.equal(describe({ startingPrice: null, pricingModels: ["TIERED"] }), "By volume");
});
