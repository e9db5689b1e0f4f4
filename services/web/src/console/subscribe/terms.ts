import type { PricingPlanDto } from "@ehr-marketplace/client/marketplace";
import {
  countsUnits,
  countsUsage,
  describePlanPrice,
  describeTierPrice,
  findReachedTiers,
  type Price,
} from "../../storefront/describe-price.ts";
import { texts as storefront } from "../../storefront/texts.ts";
import { texts } from "../texts.ts";

/** What is entered, as the fields have it. */
export interface EnteredTerms {
  quantity: string;
  usage: string;
}

export type ReadTerms =
  | { isValid: true; quantity: number | undefined; usage: string | undefined }
  | { isValid: false; field: "quantity" | "usage"; message: string };

const wholeNumber = /^[1-9]\d{0,8}$/;
const decimal = /^\d{1,15}(\.\d{1,6})?$/;

/** Reads the units and the usage that a plan counts. Usage is for the estimate only, and may be left out. */
export function readTerms(plan: PricingPlanDto, { quantity, usage }: EnteredTerms): ReadTerms {
  if (countsUnits(plan) && !wholeNumber.test(quantity.trim())) {
    return { isValid: false, field: "quantity", message: texts.subscribe.badQuantity };
  }
  const isUsageGiven = countsUsage(plan) && usage.trim() !== "";
  if (isUsageGiven && !decimal.test(usage.trim())) {
    return { isValid: false, field: "usage", message: texts.subscribe.badUsage };
  }
  return {
    isValid: true,
    quantity: countsUnits(plan) ? Number(quantity) : undefined,
    usage: isUsageGiven ? usage.trim() : undefined,
  };
}

const joinPrice = ({ amount, per }: Price): string => (per === "" ? amount : `${amount} ${per}`);

function describeIncluded(plan: PricingPlanDto): string {
  const count = plan.includedUnits ?? 0;
  if (count === 0 || plan.pricingModel === "FLAT") return "";
  return countsUsage(plan) ? texts.withIncludedUse(count) : texts.withIncludedUnits(count);
}

/** A price in one line: "5 × $29.00 per provider, per month". Of tiers, those that the units reach. */
export function describeTerms(plan: PricingPlanDto, quantity: number | null | undefined): string {
  const included = describeIncluded(plan);
  const price = joinPrice(describePlanPrice(plan));
  if (quantity === null || quantity === undefined) return `${price}${included}`;
  if (plan.tiers.length === 0 && included === "") return texts.units(quantity, price);
  const prices =
    plan.tiers.length === 0
      ? [price]
      : findReachedTiers(plan, quantity).map((tier) => joinPrice(describeTierPrice(plan, [tier])));
  const isFree = quantity <= (plan.includedUnits ?? 0);
  const priced = isFree ? storefront.price.included : `${texts.oneAfterAnother(prices)}${included}`;
  return texts.pricedUnits(quantity, plan.unitName ?? storefront.price.unit, priced);
}

/** When and for what one is charged: fixed prices by day, usage by what the month adds up to. */
export function describeCharging(plan: PricingPlanDto): string {
  const { charged, chargedByUse, counted } = texts.subscribe;
  if (!countsUsage(plan)) return charged;
  const how = plan.aggregation === null ? undefined : counted[plan.aggregation];
  return how === undefined ? chargedByUse : `${chargedByUse} ${how}`;
}

interface KnownSubscription {
  id: string;
  appSlug: string;
  status: "active" | "paused" | "cancelled";
  trialEndsAt: string | null;
}

/** The subscription to an app that is in force. A practice has at most one. */
export const findLive = <T extends KnownSubscription>(subscriptions: readonly T[], appSlug: string): T | undefined =>
  subscriptions.find((each) => each.appSlug === appSlug && each.status !== "cancelled");

/** A practice has one trial of an app. */
export const hadTrial = (subscriptions: readonly KnownSubscription[], appSlug: string): boolean =>
  subscriptions.some((each) => each.appSlug === appSlug && each.trialEndsAt !== null);
