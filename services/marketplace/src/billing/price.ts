import type { PricingPlanDto } from "@ehr-marketplace/contracts";
import { Fraction } from "fraction.js";
import { daysInMonth, daysInYear, type Month } from "./month.ts";

export type PricedPlan = Pick<
  PricingPlanDto,
  "name" | "pricingModel" | "amount" | "interval" | "unitName" | "includedUnits" | "tiers" | "tierMode" | "metric"
>;

/** Days of the month on which a plan with a quantity is charged. */
export interface ChargedDays {
  plan: PricedPlan;
  quantity: number;
  days: number;
}

/** What was used of a plan's metric in the month, by the plan's aggregation. */
export interface ChargedUsage {
  plan: PricedPlan;
  /** As text, a decimal number. */
  quantity: Fraction | string;
  /** What other plans have charged of the metric in the month: included units and tiers go on after it. */
  after?: Fraction;
  /** Up to where the same plan has charged before, of which it doesn't charge a tier's flat amount again. */
  chargedTo?: Fraction;
}

/** A charge before it is rounded: `quantity` × `unitAmount`, for `days` of the `intervalDays` if they are given. */
export interface Charge {
  description: string;
  quantity: Fraction;
  /** In the currency's minor unit. */
  unitAmount: Fraction;
  /** Null for usage, which isn't charged by day. */
  days: number | null;
  intervalDays: number | null;
  exact: Fraction;
}

export interface PricedLine extends Omit<Charge, "exact"> {
  /** In the currency's minor unit, rounded half up. */
  amount: bigint;
}

/** A part of the units that has one price: a tier's units, or its flat amount. */
interface PricedPart {
  description: string;
  quantity: Fraction;
  unitAmount: Fraction;
}

const zero = new Fraction(0);

/** Without what the plan includes. */
function countCharged({ includedUnits }: PricedPlan, units: Fraction): Fraction {
  const charged = units.sub(includedUnits ?? 0);
  return charged.compare(0) > 0 ? charged : zero;
}

/** A tier with the units that it has before it. */
interface Tier {
  after: number;
  upTo: number | null;
  unitAmount: Fraction;
  flatAmount: Fraction;
}

function orderTiers({ tiers }: PricedPlan): Tier[] {
  return tiers.map(({ upTo, unitAmount, flatAmount }, index) => ({
    after: tiers[index - 1]?.upTo ?? 0,
    upTo,
    unitAmount: new Fraction(unitAmount),
    flatAmount: new Fraction(flatAmount),
  }));
}

const describeTier = ({ after, upTo }: Tier): string => (upTo === null ? `above ${after}` : `${after + 1} to ${upTo}`);

function priceTier(tier: Tier, quantity: Fraction): PricedPart[] {
  const description = describeTier(tier);
  const units = { description, quantity, unitAmount: tier.unitAmount };
  if (tier.flatAmount.equals(0)) return [units];
  const flat = { description: `${description}, flat`, quantity: new Fraction(1), unitAmount: tier.flatAmount };
  return tier.unitAmount.equals(0) ? [flat] : [units, flat];
}

const lesser = (a: Fraction, b: Fraction): Fraction => (a.compare(b) < 0 ? a : b);
const greater = (a: Fraction, b: Fraction): Fraction => (a.compare(b) > 0 ? a : b);

/** Units after others that were charged already, by this plan or another one. */
interface Units {
  after: Fraction;
  to: Fraction;
  chargedTo: Fraction;
}

/** Charges nothing for no units, also where the first tier has a flat amount. */
function priceTiers(plan: PricedPlan, { after, to, chargedTo }: Units): PricedPart[] {
  const reached = orderTiers(plan).filter((tier) => to.compare(tier.after) > 0);
  if (plan.tierMode === "VOLUME") {
    return reached.slice(-1).flatMap((tier) => priceTier(withoutChargedFlat(tier, chargedTo), to.sub(after)));
  }
  return reached.flatMap((tier) => {
    const begin = greater(after, new Fraction(tier.after));
    const end = tier.upTo === null ? to : lesser(to, new Fraction(tier.upTo));
    return begin.compare(end) < 0 ? priceTier(withoutChargedFlat(tier, chargedTo), end.sub(begin)) : [];
  });
}

/** A tier's flat amount is charged once, with the first unit in it. */
const withoutChargedFlat = (tier: Tier, chargedTo: Fraction): Tier =>
  chargedTo.compare(tier.after) > 0 ? { ...tier, flatAmount: zero } : tier;

/** The parts of a price for some units: of seats for an interval, or of a metric for a month. */
function priceUnits(plan: PricedPlan, units: Fraction, after = zero, chargedTo = zero): PricedPart[] {
  const to = countCharged(plan, units.add(after));
  const charged = { after: countCharged(plan, after), to, chargedTo: countCharged(plan, chargedTo) };
  const quantity = charged.to.sub(charged.after);
  if (quantity.equals(0)) return [];
  if (plan.tiers.length > 0) return priceTiers(plan, charged);
  return [{ description: "", quantity, unitAmount: new Fraction(plan.amount ?? 0) }];
}

function priceInterval(plan: PricedPlan, quantity: number): PricedPart[] {
  switch (plan.pricingModel) {
    case "FLAT":
      return [{ description: "", quantity: new Fraction(1), unitAmount: new Fraction(plan.amount ?? 0) }];
    case "PER_UNIT":
    case "TIERED":
      return priceUnits(plan, new Fraction(quantity));
    default:
      return [];
  }
}

const joinTexts = (...texts: (string | null)[]): string => texts.filter(Boolean).join(", ");

function chargeDays(month: Month, { plan, quantity, days }: ChargedDays): Charge[] {
  if (days === 0) return [];
  const intervalDays = plan.interval === "YEAR" ? daysInYear(month) : daysInMonth(month);
  return priceInterval(plan, quantity).map((part) => ({
    ...part,
    description: joinTexts(plan.name, plan.unitName, part.description),
    days,
    intervalDays,
    exact: part.quantity.mul(part.unitAmount).mul(days).div(intervalDays),
  }));
}

function chargeUsage({ plan, quantity, after, chargedTo }: ChargedUsage): Charge[] {
  if (plan.pricingModel !== "USAGE") return [];
  return priceUnits(plan, new Fraction(quantity), after, chargedTo).map((part) => ({
    ...part,
    description: joinTexts(plan.name, plan.metric, part.description),
    days: null,
    intervalDays: null,
    exact: part.quantity.mul(part.unitAmount),
  }));
}

/** What a subscription costs in a month, exactly. Days and usage of each plan, and of each quantity, are given once. */
export function charge(month: Month, days: readonly ChargedDays[], usage: readonly ChargedUsage[]): Charge[] {
  return [...days.flatMap((each) => chargeDays(month, each)), ...usage.flatMap(chargeUsage)];
}

/** What a plan with a quantity costs in its interval, exactly. */
export const priceOfInterval = (plan: PricedPlan, quantity: number | null): Fraction =>
  priceInterval(plan, quantity ?? 1).reduce((sum, part) => sum.add(part.quantity.mul(part.unitAmount)), zero);

/** What a plan with a quantity costs on a day of the month, exactly. */
export const priceOfDay = (plan: PricedPlan, quantity: number | null, month: Month): Fraction =>
  sumExact(chargeDays(month, { plan, quantity: quantity ?? 1, days: 1 }));

/** What usage costs, exactly. */
export const priceOfUsage = (usage: ChargedUsage): Fraction => sumExact(chargeUsage(usage));

const sumExact = (charges: readonly Charge[]): Fraction => charges.reduce((sum, { exact }) => sum.add(exact), zero);

/** Rounds half up. No charge is negative. */
export const roundAmount = (exact: Fraction): bigint => (2n * exact.n + exact.d) / (2n * exact.d);

/** The lines of a statement, each rounded once. */
export function price(month: Month, days: readonly ChargedDays[], usage: readonly ChargedUsage[]): PricedLine[] {
  return charge(month, days, usage).map(({ exact, ...line }) => ({ ...line, amount: roundAmount(exact) }));
}

export const totalOf = (lines: readonly Pick<PricedLine, "amount">[]): bigint =>
  lines.reduce((sum, { amount }) => sum + amount, 0n);
