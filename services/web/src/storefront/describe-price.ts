import type { AppDto, PricingPlanDto } from "@ehr-marketplace/contracts";
import { formatMoney, formatNumber } from "./format.ts";
import { texts } from "./texts.ts";

/** A price as its parts: the amount large, and what it counts beside it. */
export interface Price {
  amount: string;
  per: string;
}

type Tier = PricingPlanDto["tiers"][number];
type Amount = Tier["unitAmount"];

const t = texts.price;

/** The price of an app in lists: what its list item says, which has neither a unit nor a plan. */
export function describeStartingPrice({ startingPrice, pricingModels }: AppDto): Price {
  if (startingPrice === null) return { amount: pricingModels.includes("USAGE") ? t.byUsage : t.byTier, per: "" };
  const { amount, currency, interval } = startingPrice;
  if (amount === 0) return { amount: t.free, per: "" };
  const isPerUnit = pricingModels.includes("PER_UNIT");
  // The API doesn't say of which plan it is, nor what its unit is.
  const isFlat = pricingModels.includes("FLAT");
  const perUnit = isFlat ? t.perMaybeUnit(interval) : t.perUnit(t.unit, interval);
  return { amount: t.from(formatMoney(amount, currency)), per: isPerUnit ? perUnit : t.per(interval) };
}

export function describePlanPrice(plan: PricingPlanDto): Price {
  const { pricingModel, currency, interval } = plan;
  if (plan.tiers.length > 0) return describeTierPrice(plan, plan.tiers);
  if (pricingModel === "FREE") return { amount: t.free, per: "" };
  return {
    amount: formatMoney(plan.amount ?? 0, currency),
    per: countsSomething(plan) ? perOne(plan) : t.per(interval),
  };
}

/** "By the page, fax_pages, above 100, flat": a line of the API, in words. */
export const describeLine = (description: string): string =>
  description
    .replaceAll(/(?<=[\p{L}\p{N}])_+(?=[\p{L}\p{N}])/gu, " ")
    .replace(/, flat(?=$|, \d+ of \d+ days$)/, `, ${t.fixed}`);

/** What one unit or one use is called in a price, with its interval. Usage is charged for each month. */
const perOne = (plan: PricingPlanDto): string =>
  countsUsage(plan) ? t.perUse(plan.metric ?? t.unit) : t.perUnit(plan.unitName ?? t.unit, plan.interval);
const perAll = (plan: PricingPlanDto): string => t.per(countsUsage(plan) ? "MONTH" : plan.interval);

const isPositive = (amount: Amount): boolean => Number(amount) > 0;
const byAmount = (a: Amount, b: Amount): number => Number(a) - Number(b);

/** "$5.00", "$5.00 to $8.00", "up to $8.00", or undefined if nothing is charged. */
function describeRange(amounts: readonly Amount[], currency: string): string | undefined {
  const ordered = amounts.toSorted(byAmount);
  const [min = 0] = ordered;
  const max = ordered.at(-1) ?? 0;
  if (!isPositive(max)) return undefined;
  const highest = formatMoney(max, currency);
  if (!isPositive(min)) return t.upTo(highest);
  return byAmount(min, max) === 0 ? highest : t.tierRange(formatMoney(min, currency), highest);
}

/** The fixed amounts that can be charged: of the reached tier if tiers are by volume, otherwise of all up to it. */
function flatAmounts({ tierMode }: PricingPlanDto, tiers: readonly Tier[]): Amount[] {
  let sum = 0;
  return tiers.map(({ flatAmount }) => (tierMode === "VOLUME" ? flatAmount : (sum += flatAmount)));
}

/** A short price of some tiers of a plan: between which amounts it is. */
export function describeTierPrice(plan: PricingPlanDto, tiers: readonly Tier[]): Price {
  const flat = describeRange(flatAmounts(plan, tiers), plan.currency);
  const unit = describeRange(
    tiers.map(({ unitAmount }) => unitAmount),
    plan.currency,
  );
  const per = tiers.length > 1 ? t.byVolume : (text: string): string => text;
  if (flat === undefined) {
    return unit === undefined ? { amount: t.free, per: "" } : { amount: capitalise(unit), per: per(perOne(plan)) };
  }
  const rest = unit === undefined ? perAll(plan) : `${perAll(plan)} + ${unit} ${perOne(plan)}`;
  return { amount: capitalise(flat), per: per(rest) };
}

const capitalise = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The tiers that some units reach: one if tiers are by volume, none if all units are included. */
export function findReachedTiers({ tiers, tierMode, includedUnits }: PricingPlanDto, units: number): Tier[] {
  const charged = units - (includedUnits ?? 0);
  const reached = tiers.filter((_, index) => charged > (tiers[index - 1]?.upTo ?? 0));
  return tierMode === "VOLUME" ? reached.slice(-1) : reached;
}

/** What a plan includes, if it does. */
export function describeIncluded(plan: PricingPlanDto): string | undefined {
  const { includedUnits, unitName, metric } = plan;
  if (includedUnits === null || includedUnits === 0) return undefined;
  const count = formatNumber(includedUnits);
  return countsUsage(plan)
    ? texts.app.includedUse(count, metric ?? t.unit)
    : texts.app.includedUnits(count, unitName ?? t.unit);
}

/** How the tiers of a plan are applied, in sentences. Undefined if it has none. */
export function describeTierMode({ tierMode, tiers, includedUnits }: PricingPlanDto): string | undefined {
  if (tierMode === null || tiers.length === 0) return undefined;
  const { volume, graduated, graduatedFlat, includedFirst } = texts.app;
  const hasFlat = tiers.some(({ flatAmount }) => flatAmount > 0);
  return [
    tierMode === "VOLUME" ? volume : graduated,
    ...(tierMode === "GRADUATED" && hasFlat ? [graduatedFlat] : []),
    ...((includedUnits ?? 0) > 0 ? [includedFirst] : []),
  ].join(" ");
}

/** Each tier of a plan in a sentence. */
export function describeTiers(plan: PricingPlanDto): string[] {
  const { tiers, currency } = plan;
  let first = 1;
  return tiers.map((tier: Tier) => {
    const range =
      tier.upTo === null ? t.tierFrom(formatNumber(first)) : t.tierRange(formatNumber(first), formatNumber(tier.upTo));
    first = (tier.upTo ?? 0) + 1;
    const parts = [
      ...(tier.flatAmount > 0 ? [`${formatMoney(tier.flatAmount, currency)} ${perAll(plan)}`] : []),
      ...(Number(tier.unitAmount) > 0 ? [`${formatMoney(tier.unitAmount, currency)} ${perOne(plan)}`] : []),
    ];
    return `${range}: ${parts.length === 0 ? t.included : parts.join(" + ")}`;
  });
}

/** Whether the calculator has a field for units, or for usage. */
export const countsUnits = ({ pricingModel }: PricingPlanDto): boolean =>
  pricingModel === "PER_UNIT" || pricingModel === "TIERED";
export const countsUsage = ({ pricingModel }: PricingPlanDto): boolean => pricingModel === "USAGE";
const countsSomething = (plan: PricingPlanDto): boolean => countsUnits(plan) || countsUsage(plan);
