import type { AppDto, PricingPlanDto } from "@ehr-marketplace/contracts";
import { formatMoney, formatNumber } from "./format.ts";
import { texts } from "./texts.ts";

/** A price as its parts: the amount large, and what it counts beside it. */
export interface Price {
  amount: string;
  per: string;
}

type Tier = PricingPlanDto["tiers"][number];

const t = texts.price;

/** The price of an app in lists. */
export function describeStartingPrice({ startingPrice, pricingModels }: AppDto): Price {
  if (startingPrice === null) return { amount: pricingModels.includes("USAGE") ? t.byUsage : t.byTier, per: "" };
  const { amount, currency, interval } = startingPrice;
  if (amount === 0) return { amount: t.free, per: "" };
  const isPerUnit = !pricingModels.includes("FLAT") && pricingModels.includes("PER_UNIT");
  return {
    amount: t.from(formatMoney(amount, currency)),
    per: isPerUnit ? t.perUnit(t.unit, interval) : t.per(interval),
  };
}

export function describePlanPrice(plan: PricingPlanDto): Price {
  const { pricingModel, currency, interval, unitName } = plan;
  const amount = plan.amount ?? 0;
  switch (pricingModel) {
    case "FREE":
      return { amount: t.free, per: "" };
    case "FLAT":
      return { amount: formatMoney(amount, currency), per: t.per(interval) };
    case "PER_UNIT":
      return { amount: formatMoney(amount, currency), per: t.perUnit(unitName ?? t.unit, interval) };
    case "TIERED":
      return { amount: t.byTier, per: t.perUnit(unitName ?? t.unit, interval) };
    case "USAGE":
      return plan.tiers.length > 0
        ? { amount: t.byTier, per: t.ofUse(plan.metric ?? t.unit) }
        : { amount: formatMoney(amount, currency), per: t.perUse(plan.metric ?? t.unit) };
  }
}

/** Each tier of a plan in a sentence. */
export function describeTiers(plan: PricingPlanDto): string[] {
  const { tiers, currency, unitName, metric, interval } = plan;
  const isUsage = countsUsage(plan);
  // Usage is charged for each month.
  const perFlat = t.per(isUsage ? "MONTH" : interval);
  const perUnit = isUsage ? t.perUse(metric ?? t.unit) : t.perUnit(unitName ?? t.unit, interval);
  let first = 1;
  return tiers.map((tier: Tier) => {
    const range =
      tier.upTo === null ? t.tierFrom(formatNumber(first)) : t.tierRange(formatNumber(first), formatNumber(tier.upTo));
    first = (tier.upTo ?? 0) + 1;
    const parts = [
      ...(tier.flatAmount > 0 ? [`${formatMoney(tier.flatAmount, currency)} ${perFlat}`] : []),
      ...(Number(tier.unitAmount) > 0 ? [`${formatMoney(tier.unitAmount, currency)} ${perUnit}`] : []),
    ];
    return `${range}: ${parts.length === 0 ? t.included : parts.join(" + ")}`;
  });
}

/** Whether the calculator has a field for units, or for usage. */
export const countsUnits = ({ pricingModel }: PricingPlanDto): boolean =>
  pricingModel === "PER_UNIT" || pricingModel === "TIERED";
export const countsUsage = ({ pricingModel }: PricingPlanDto): boolean => pricingModel === "USAGE";
