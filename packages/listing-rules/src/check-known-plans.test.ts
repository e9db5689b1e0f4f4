import assert from "node:assert/strict";
import { test } from "node:test";
import type { DraftPlan } from "@ehr-marketplace/contracts";
import { checkKnownPlans, type KnownPlan } from "./check-known-plans.ts";

const id = "6f1c5f0e-6c5b-4f5e-9d0e-0d4c2a1b3c4d";
const known: KnownPlan = {
  id,
  name: "Usage",
  description: "",
  pricingModel: "USAGE",
  currency: "USD",
  amount: "0.45000000",
  interval: "MONTH",
  trialDays: 0,
  unitName: null,
  includedUnits: null,
  tiers: [],
  tierMode: null,
  metric: "notes",
  aggregation: "SUM",
  features: [],
};
const sameShort: DraftPlan = {
  id: id.toUpperCase(),
  name: "Usage",
  pricingModel: "USAGE",
  currency: "USD",
  amount: "0.45",
  interval: "MONTH",
  metric: "notes",
  aggregation: "SUM",
};

const found = (...plans: DraftPlan[]): [string, string][] => {
  const problems: [string, string][] = [];
  checkKnownPlans(plans, [known], (pointer, code) => problems.push([pointer, code]));
  return problems;
};

test("a plan that means the same as what was on sale, and one without an id, have no problem", () => {
  assert.deepEqual(found(known, { name: "New" }), []);
  assert.deepEqual(found(sameShort), []);
});

const changes: Required<Omit<DraftPlan, "id">> = {
  name: "Other",
  description: "More",
  pricingModel: "FLAT",
  currency: "EUR",
  amount: "0.46",
  interval: "YEAR",
  trialDays: 1,
  unitName: "note",
  includedUnits: 0,
  tiers: [{ upTo: null, unitAmount: 1 }],
  tierMode: "VOLUME",
  metric: "pages",
  aggregation: "MAX",
  features: ["a"],
};
for (const [field, value] of Object.entries(changes)) {
  test(`a plan that was on sale can't change its ${field}`, () => {
    assert.deepEqual(found({ ...sameShort, [field]: value }), [[`/plans/0/${field}`, "plan-changed"]]);
  });
}

test("an unknown id and an id used twice are errors", () => {
  assert.deepEqual(found({ ...sameShort, id: id.replace("6", "7") }), [["/plans/0/id", "plan-unknown"]]);
  assert.deepEqual(found(sameShort, known), [["/plans/1/id", "plan-id-twice"]]);
});

test("tiers are compared by their amounts", () => {
  const tiers: NonNullable<DraftPlan["tiers"]> = [
    { upTo: 10, unitAmount: "0.50" },
    { upTo: null, unitAmount: 1, flatAmount: 0 },
  ];
  const problems: string[] = [];
  const compare = (changed: NonNullable<DraftPlan["tiers"]>): number => {
    checkKnownPlans([{ ...known, tiers: changed }], [{ ...known, tiers }], (pointer) => problems.push(pointer));
    return problems.length;
  };
  assert.equal(
    compare([
      { unitAmount: "0.5", upTo: 10 },
      { upTo: null, unitAmount: "1.0", flatAmount: 0 },
    ]),
    0,
  );
  assert.equal(
    compare([
      { unitAmount: "0.5", upTo: 11 },
      { upTo: null, unitAmount: 1, flatAmount: 0 },
    ]),
    1,
  );
});
