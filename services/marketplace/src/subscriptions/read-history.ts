import type { PricingPlanDto } from "@ehr-marketplace/contracts";
import type { Kysely, Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { deferHistoryRow, findHistoryRows, findPlans, type HistoryRow } from "./history-store.ts";
import type { Terms, TermsHistory } from "./terms.ts";

/** What a subscription is, and was since a time. */
export interface SubscriptionHistory
  extends Pick<
    HistoryRow,
    "id" | "organisationId" | "orgAlias" | "appId" | "appSlug" | "appName" | "vendorId" | "trialEndsAt" | "cancelledAt"
  > {
  createdAt: Date;
  terms: TermsHistory<PricingPlanDto>;
  /** In order. `to` is null while it lasts. */
  pauses: readonly { from: Date; to: Date | null }[];
}

/** A published plan never changes, so plans can be kept between reads. */
export type KnownPlans = Map<string, PricingPlanDto>;

/** In the order of their ids. Those that don't exist are left out. */
export async function readHistories(
  database: Kysely<DB>,
  ids: readonly string[],
  since: Date,
  plans: KnownPlans = new Map(),
): Promise<SubscriptionHistory[]> {
  const rows = await findHistoryRows(database, ids, since);
  await addPlans(database, rows, plans);
  return rows.map((row) => toHistory(row, plans));
}

/** The same for a subscription that the transaction has locked, with all pauses since a time. It is read with the next statement. */
export async function deferHistory(
  transaction: Transaction<DB>,
  id: string,
  period: { since: Date; pausesSince: Date },
  plans: KnownPlans,
): Promise<() => Promise<SubscriptionHistory>> {
  const readRow = await deferHistoryRow(transaction, id, period);
  return async () => {
    const row = await readRow();
    if (row === undefined) throw new Error(`subscription ${id} has no history`);
    await addPlans(transaction, [row], plans);
    return toHistory(row, plans);
  };
}

/** Adds the plans that aren't known yet. */
async function addPlans(database: Kysely<DB>, rows: readonly HistoryRow[], plans: KnownPlans): Promise<void> {
  const needed = rows.flatMap(({ planId, endedTerms }) => [planId, ...endedTerms.map((ended) => ended.planId)]);
  const unknown = [...new Set(needed)].filter((id) => !plans.has(id));
  if (unknown.length > 0) for (const plan of await findPlans(database, unknown)) plans.set(plan.id, plan);
}

function toHistory({ endedTerms, endedPauses, pausedAt, planId, quantity, ...row }: HistoryRow, plans: KnownPlans) {
  const ended = endedPauses.map(({ from, to }) => ({ from: new Date(from), to: new Date(to) }));
  return {
    ...row,
    terms: toTerms({ ...row, endedTerms, planId, quantity }, plans),
    pauses: pausedAt === null ? ended : [...ended, { from: pausedAt, to: null }],
  };
}

/** Each begins when the one before ends. Where others in between were left out it began later, but not after the start of its day. */
function toTerms(
  { createdAt, endedTerms, planId, quantity }: Pick<HistoryRow, "createdAt" | "endedTerms" | "planId" | "quantity">,
  plans: KnownPlans,
): TermsHistory<PricingPlanDto> {
  const agreed = [...endedTerms, { planId, quantity }];
  return agreed.map(({ planId: id, quantity: units }, index): Terms<PricingPlanDto> => {
    const plan = plans.get(id);
    if (plan === undefined) throw new Error(`plan ${id} is missing`);
    const before = endedTerms[index - 1];
    return { from: before === undefined ? createdAt : new Date(before.endedAt), plan, quantity: units };
  }) as [Terms<PricingPlanDto>, ...Terms<PricingPlanDto>[]];
}
