import type { PricingPlanDto, QuoteBody, QuoteDto } from "@ehr-marketplace/contracts";
import { invalidRequest } from "@ehr-marketplace/service-kit/http";
import { Fraction } from "fraction.js";
import { appNotFound } from "../catalog/catalog-errors.ts";
import { findOffer } from "../catalog/find-offer.ts";
import type { Account } from "../subscriptions/account.ts";
import { countsUnits, invalidField } from "../subscriptions/create-subscription.ts";
import { subscriptionProblems } from "../subscriptions/subscription-errors.ts";
import { formatQuantity, parseQuantity } from "../usage/decimal.ts";
import { billingProblems } from "./billing-errors.ts";
import { toChargeLine } from "./charge-line.ts";
import { findDays } from "./charge-month.ts";
import { findChargeableDays, groupDays } from "./charged-days.ts";
import { defaultLimit } from "./limit-in-force.ts";
import { daysInMonth, type Month, millisecondsPerDay, nextMonth, periodOf, toMonth } from "./month.ts";
import { price, totalOf } from "./price.ts";
import { type BillingDeps, toSpendLimit } from "./read-estimate.ts";

/** What a plan of a published app would cost. */
export async function quotePlan(
  { database, clock, usageLimits }: BillingDeps,
  appSlug: string,
  { pricingPlanId, quantity, usage, trial = true }: QuoteBody,
): Promise<QuoteDto> {
  const offer = await findOffer(database, appSlug, pricingPlanId);
  if (offer === undefined) throw appNotFound();
  const { plan } = offer;
  if (plan === undefined) {
    const detail = "is not a plan that this app has on sale";
    throw invalidField(subscriptionProblems.unknownPlan, "pricingPlanId", detail);
  }
  if (quantity !== undefined && !countsUnits(plan)) {
    throw invalidField(subscriptionProblems.quantityNotCounted, "quantity", "is not allowed for this plan");
  }
  if (usage !== undefined && plan.pricingModel !== "USAGE") {
    throw invalidField(billingProblems.usageNotCharged, "usage", "is not allowed for this plan");
  }
  const offered = trial ? plan : { ...plan, trialDays: 0 };
  const units = { quantity: countsUnits(plan) ? (quantity ?? 1) : null, usage: parseUsage(usage) };
  const limit = plan.pricingModel === "USAGE" ? defaultLimit(usageLimits, plan.currency) : undefined;
  const spendLimit = limit === undefined ? null : toSpendLimit(limit, plan.currency);
  return { ...quote(offered, units, clock()), spendLimit };
}

function parseUsage(given: QuoteBody["usage"]): string {
  const quantity = parseQuantity(given ?? 0);
  if (quantity === undefined) {
    throw invalidRequest("/body/usage", "must be at least 0, with at most 15 digits and 6 decimals");
  }
  return formatQuantity(quantity);
}

interface Units {
  quantity: number | null;
  /** In a month. */
  usage: string;
}

function quote(plan: PricingPlanDto, units: Units, now: Date): Omit<QuoteDto, "spendLimit"> {
  const month = toMonth(now);
  const next = nextMonth(month);
  const trialEndsAt = plan.trialDays === 0 ? null : new Date(now.getTime() + plan.trialDays * millisecondsPerDay);
  return {
    currency: plan.currency,
    firstMonth: quoteMonth(month, { plan, units, from: now, trialEndsAt }),
    fullMonth: quoteMonth(next, { plan, units, from: periodOf(next).from, trialEndsAt: null }),
  };
}

interface QuoteTerms {
  plan: PricingPlanDto;
  units: Units;
  from: Date;
  trialEndsAt: Date | null;
}

/** A part of a month has that part of the month's usage. */
function quoteMonth(month: Month, { plan, units, from, trialEndsAt }: QuoteTerms): QuoteDto["firstMonth"] {
  const { quantity } = units;
  const periods = [{ from, to: null, plan, quantity }];
  const account: Account<PricingPlanDto> = [
    { id: "", createdAt: from, cancelledAt: null, trialEndsAt, periods, pauses: [] },
  ];
  const part = new Fraction(findChargeableDays(month, account).length, daysInMonth(month));
  const days = findDays({ month, account, usage: [] });
  const lines = price(month, groupDays(days), [{ plan, quantity: usageOfPart(plan, units.usage, part) }]);
  return { month, lines: lines.map(toChargeLine), total: totalOf(lines) };
}

function usageOfPart({ aggregation }: PricingPlanDto, usage: string, part: Fraction): Fraction {
  if (part.equals(0)) return part;
  // Of a maximum or a latest value, a part of the month has all of it. Units are counted in whole millionths.
  const isSum = aggregation === "SUM" || aggregation === "COUNT";
  return isSum ? part.mul(usage).round(aggregation === "COUNT" ? 0 : 6) : new Fraction(usage);
}
