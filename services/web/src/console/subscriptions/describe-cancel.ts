import type { EstimateDto, ListedSubscriptionDto } from "@ehr-marketplace/client/marketplace";
import { countsUsage } from "../../storefront/describe-price.ts";
import { formatMoney, formatMonth } from "../../storefront/format.ts";
import { texts } from "../texts.ts";
import { isOwnPause } from "./pause-reasons.ts";

const t = texts.cancelDialog;

export interface ReadEstimate {
  data: Pick<EstimateDto, "month" | "currency" | "total" | "lines"> | undefined;
  isError: boolean;
}

const isTrial = ({ trialEndsAt }: Pick<ListedSubscriptionDto, "trialEndsAt">, now: Date): boolean =>
  trialEndsAt !== null && new Date(trialEndsAt) > now;

/** What is still to be paid. Usage may be reported later, also that of a plan before the current one, but not that of a trial. */
export function describeLastCosts(
  subscription: Pick<ListedSubscriptionDto, "pricingPlan" | "trialEndsAt">,
  { data, isError }: ReadEstimate,
  now: Date,
): string[] {
  const countsAnyUsage =
    countsUsage(subscription.pricingPlan) ||
    (data?.lines.some(({ days, amount }) => days === null && amount >= 0) ?? false);
  const hasUsage = countsAnyUsage && !isTrial(subscription, now);
  const late = hasUsage ? [t.late] : [];
  if (data === undefined) return isError ? [t.payUnknown, ...late] : late;
  const pay = hasUsage ? t.paySoFar : t.pay;
  return [pay(formatMonth(data.month), formatMoney(Math.max(0, data.total), data.currency)), ...late];
}

/** Whoever cancels while the marketplace has paused the app, is blocked until the marketplace lifts it. There is one trial of an app. */
export function describeFinality({
  pauseReason,
  trialEndsAt,
}: Pick<ListedSubscriptionDto, "pauseReason" | "trialEndsAt">): string {
  if (!isOwnPause(pauseReason)) return t.finalBlocked;
  return trialEndsAt === null ? t.final : t.finalNoTrial;
}
