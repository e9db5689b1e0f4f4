import type { ListedSubscriptionDto } from "@ehr-marketplace/client/marketplace";

/** A day costs the most that the practice had in so many days, of which it is the last. */
export const keptDays = 7;

const dayMs = 86_400_000;

export const addDays = (time: Date, days: number): string => new Date(time.getTime() + days * dayMs).toISOString();

/** Nothing is charged by the day in a trial, for a free plan, or for one by usage. */
export const hasFixedPrice = (
  { pricingPlan, trialEndsAt }: Pick<ListedSubscriptionDto, "pricingPlan" | "trialEndsAt">,
  now: Date,
): boolean =>
  !["FREE", "USAGE"].includes(pricingPlan.pricingModel) && (trialEndsAt === null || new Date(trialEndsAt) <= now);
