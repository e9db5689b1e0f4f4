import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { PricingPlanDto } from "@ehr-marketplace/client/marketplace";
import { describeCharging, describeTerms, findLive, hadTrial, readTerms } from "./terms.ts";

const plan = (changes: Partial<PricingPlanDto>): PricingPlanDto => ({
  id: "01890a5d-ac96-774b-bcce-b302099a8057",
  name: "Team",
  description: "",
  pricingModel: "PER_UNIT",
  currency: "USD",
  amount: 2_900,
  interval: "MONTH",
  trialDays: 0,
  unitName: "provider",
  includedUnits: null,
  tiers: [],
  tierMode: null,
  metric: null,
  aggregation: null,
  features: [],
  ...changes,
});

describe("the terms of a subscription", () => {
  test("have units if the plan counts them", () => {
    assert.deepEqual(readTerms(plan({}), { quantity: " 5 ", usage: "7" }), {
      isValid: true,
      quantity: 5,
      usage: undefined,
    });
    assert.deepEqual(readTerms(plan({ pricingModel: "FLAT" }), { quantity: "x", usage: "" }), {
      isValid: true,
      quantity: undefined,
      usage: undefined,
    });
  });

  for (const quantity of ["", "0", "-1", "1.5", "five", "1e3", "9999999999"]) {
    test(`refuse ${JSON.stringify(quantity)} as a number of units`, () => {
      assert.equal(readTerms(plan({}), { quantity, usage: "" }).isValid, false);
    });
  }

  test("have usage for the estimate, which may be left out", () => {
    const usage = plan({ pricingModel: "USAGE", metric: "notes" });
    assert.deepEqual(readTerms(usage, { quantity: "", usage: "2.5" }), {
      isValid: true,
      quantity: undefined,
      usage: "2.5",
    });
    assert.deepEqual(readTerms(usage, { quantity: "", usage: "" }), {
      isValid: true,
      quantity: undefined,
      usage: undefined,
    });
    assert.equal(readTerms(usage, { quantity: "", usage: "many" }).isValid, false);
  });

  test("are described in one line", () => {
    assert.equal(describeTerms(plan({}), 5), "5 × $29.00 per provider, per month");
    assert.equal(describeTerms(plan({ pricingModel: "FREE" }), null), "Free");
    const usage = plan({ pricingModel: "USAGE", amount: 85, metric: "notes", includedUnits: 40 });
    assert.equal(describeTerms(usage, null), "$0.85 each (notes), 40 included each month");
  });

  test("multiply no price by units that are included", () => {
    const team = plan({ includedUnits: 2 });
    assert.equal(describeTerms(team, 5), "5 × provider: $29.00 per provider, per month, the first 2 included");
    assert.equal(describeTerms(team, 3), "3 × provider: $29.00 per provider, per month, the first 2 included");
    assert.equal(describeTerms(team, 2), "2 × provider: included");
    assert.equal(describeTerms(team, 1), "1 × provider: included");
    assert.equal(describeTerms(team, null), "$29.00 per provider, per month, the first 2 included");
    assert.equal(
      describeTerms(plan({ includedUnits: 1 }), 5),
      "5 × provider: $29.00 per provider, per month, the first included",
    );
    assert.equal(describeTerms(plan({ includedUnits: 0 }), 5), "5 × $29.00 per provider, per month");
  });
});

describe("the terms of a plan with tiers", () => {
  const tiered = (changes: Partial<PricingPlanDto>): PricingPlanDto =>
    plan({
      pricingModel: "TIERED",
      amount: null,
      tierMode: "VOLUME",
      tiers: [
        { upTo: 10, unitAmount: 7_900, flatAmount: 0 },
        { upTo: null, unitAmount: 5_900, flatAmount: 0 },
      ],
      ...changes,
    });

  test("have the price of the tier that is reached", () => {
    assert.equal(describeTerms(tiered({}), 3), "3 × provider: $79.00 per provider, per month");
    assert.equal(describeTerms(tiered({}), 11), "11 × provider: $59.00 per provider, per month");
  });

  test("have the price of each tier that is reached, if several are", () => {
    assert.equal(
      describeTerms(tiered({ tierMode: "GRADUATED" }), 11),
      "11 × provider: $79.00 per provider, per month, then $59.00 per provider, per month",
    );
  });

  test("have the lowest and the highest price if there are no units yet", () => {
    assert.equal(describeTerms(tiered({}), null), "$59.00 to $79.00 per provider, per month, by volume");
  });

  test("say what is included", () => {
    assert.equal(describeTerms(tiered({ includedUnits: 5 }), 5), "5 × provider: included");
    assert.equal(
      describeTerms(tiered({ includedUnits: 5 }), 15),
      "15 × provider: $79.00 per provider, per month, the first 5 included",
    );
  });
});

describe("how a plan is charged", () => {
  test("is by day for fixed prices only", () => {
    for (const pricingModel of ["FLAT", "PER_UNIT", "TIERED"] as const) {
      assert.match(
        describeCharging(plan({ pricingModel })),
        /by the day, for the most that you had in the last seven days/,
      );
    }
  });

  test("is by what was used for usage, with what counts of it", () => {
    const usage = (aggregation: PricingPlanDto["aggregation"]) =>
      describeCharging(plan({ pricingModel: "USAGE", metric: "notes", aggregation }));
    for (const aggregation of ["SUM", "COUNT", "MAX", "LATEST"] as const) {
      assert.match(usage(aggregation), /what the vendor reports as used/);
      assert.doesNotMatch(usage(aggregation), /each day/);
    }
    assert.match(usage("MAX"), /highest figure counts\.$/);
    assert.match(usage("LATEST"), /last figure counts\.$/);
  });
});

describe("what a practice has of an app", () => {
  const known = [
    { id: "a", appSlug: "scribe", status: "cancelled", trialEndsAt: "2026-10-01T00:00:00.000Z" },
    { id: "b", appSlug: "scribe", status: "paused", trialEndsAt: null },
    { id: "c", appSlug: "other", status: "cancelled", trialEndsAt: null },
  ] as const;

  test("is a live subscription, active or paused", () => {
    assert.equal(findLive(known, "scribe")?.id, "b");
    assert.equal(findLive(known, "other"), undefined);
  });

  test("is a trial, once", () => {
    assert.deepEqual([hadTrial(known, "scribe"), hadTrial(known, "other")], [true, false]);
  });
});
