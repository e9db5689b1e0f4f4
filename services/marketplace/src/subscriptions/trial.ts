const dayMs = 86_400_000;

const endOf = (begin: Date, days: number): Date => new Date(begin.getTime() + days * dayMs);

/** When the trial of a new subscription ends. Null if its plan has none. */
export const findTrialEnd = (createdAt: Date, { trialDays }: { trialDays: number }): Date | null =>
  trialDays === 0 ? null : endOf(createdAt, trialDays);

/**
 * When a trial ends after a change of plan: with the trial of the new plan, if that ends earlier. Otherwise the long trial of one plan would be
 * one of every plan. What was free stays free.
 */
export function shortenTrial(
  { createdAt, trialEndsAt }: { createdAt: Date; trialEndsAt: Date | null },
  { trialDays }: { trialDays: number },
  changedAt: Date,
): Date | null {
  if (trialEndsAt === null) return null;
  const ofPlan = Math.max(endOf(createdAt, trialDays).getTime(), changedAt.getTime());
  return new Date(Math.min(trialEndsAt.getTime(), ofPlan));
}
