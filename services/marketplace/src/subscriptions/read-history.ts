import type { PricingPlanDto } from "@ehr-marketplace/contracts";
import type { Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { deferHistoryRow, type HistoryRow } from "./history-store.ts";
import { addPlans, getKnownPlan, type KnownPlans } from "./known-plans.ts";
import type { TermsHistory } from "./terms.ts";

/** What a subscription is, and was since a time: when usage counts, and by which plan. */
export interface SubscriptionHistory {
  createdAt: Date;
  cancelledAt: Date | null;
  trialEndsAt: Date | null;
  terms: TermsHistory<PricingPlanDto>;
  /** In order. `to` is null while it lasts. */
  pauses: readonly { from: Date; to: Date | null }[];
}

/** Of a subscription that the transaction has locked. It is read with the next statement. */
export async function deferHistory(
  transaction: Transaction<DB>,
  id: string,
  since: Date,
  plans: KnownPlans,
): Promise<() => Promise<SubscriptionHistory>> {
  const readRow = await deferHistoryRow(transaction, id, since);
  return async () => {
    const row = await readRow();
    if (row === undefined) throw new Error(`subscription ${id} has no history`);
    await addPlans(transaction, plans, [row.planId, ...row.endedTerms.map(({ planId }) => planId)]);
    return toHistory(row, plans);
  };
}

function toHistory(
  { endedTerms, endedPauses, pausedAt, planId, ...row }: HistoryRow,
  plans: KnownPlans,
): SubscriptionHistory {
  const ended = endedPauses.map(({ from, to }) => ({ from: new Date(from), to: new Date(to) }));
  const begins = [row.createdAt, ...endedTerms.map(({ endedAt }) => new Date(endedAt))];
  const agreed = [...endedTerms.map((each) => each.planId), planId];
  const terms = agreed.map((id, index) => ({ from: begins[index] as Date, plan: getKnownPlan(plans, id) }));
  return {
    ...row,
    terms: terms as unknown as TermsHistory<PricingPlanDto>,
    pauses: pausedAt === null ? ended : [...ended, { from: pausedAt, to: null }],
  };
}
