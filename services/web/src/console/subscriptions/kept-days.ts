import type { ListedSubscriptionDto } from "@ehr-marketplace/client/marketplace";

/** A day costs the most that the practice had in so many days, of which it is the last. */
export const keptDays = 7;

const dayMs = 86_400_000;

/** When a day begins for which one is charged, which is in UTC: that of `time`, or so many days later. */
export const startOfDay = (time: Date, daysLater = 0): Date =>
  new Date((Math.floor(time.getTime() / dayMs) + daysLater) * dayMs);

/** Nothing is charged by the day in a trial, for a free plan, or for one by usage. */
export const hasFixedPrice = (
  { pricingPlan, trialEndsAt }: Pick<ListedSubscriptionDto, "pricingPlan" | "trialEndsAt">,
  now: Date,
): boolean =>
  !["FREE", "USAGE"].includes(pricingPlan.pricingModel) && (trialEndsAt === null || new Date(trialEndsAt) <= now);
