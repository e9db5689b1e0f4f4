import type { PricedPlan } from "./price.ts";

const none = {
  amount: null,
  interval: null,
  unitName: null,
  includedUnits: null,
  tiers: [],
  tierMode: null,
  metric: null,
};

export const flat = (amount: number, interval: "MONTH" | "YEAR" = "MONTH"): PricedPlan => ({
  ...none,
  name: "Practice",
  pricingModel: "FLAT",
  amount,
  interval,
});

export const perUnit = (amount: number, includedUnits: number | null = null): PricedPlan => ({
  ...none,
  name: "Team",
  pricingModel: "PER_UNIT",
  amount,
  interval: "MONTH",
  unitName: "provider",
  includedUnits,
});

type Tiers = Pick<PricedPlan, "tiers" | "tierMode">;

/** Each tier as `[upTo, unitAmount, flatAmount]`. */
export const tiers = (
  tierMode: "GRADUATED" | "VOLUME",
  ...given: [upTo: number | null, unitAmount: number | string, flatAmount?: number][]
): Tiers => ({
  tierMode,
  tiers: given.map(([upTo, unitAmount, flatAmount = 0]) => ({ upTo, unitAmount, flatAmount })),
});

export const tiered = (given: Tiers): PricedPlan => ({
  ...none,
  name: "Group",
  pricingModel: "TIERED",
  interval: "MONTH",
  unitName: "provider",
  ...given,
});

export const usage = (given: { amount: number | string } | Tiers, includedUnits: number | null = null): PricedPlan => ({
  ...none,
  name: "Pay as you go",
  pricingModel: "USAGE",
  interval: "MONTH",
  metric: "notes",
  includedUnits,
  ...given,
});
