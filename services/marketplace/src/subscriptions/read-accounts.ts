import type { PricingPlanDto } from "@ehr-marketplace/contracts";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import type { SubscriptionInAccount } from "./account.ts";
import { type AccountRow, findAccountRows } from "./account-store.ts";
import { addPlans, getKnownPlan, type KnownPlans } from "./known-plans.ts";

export interface AccountedSubscription
  extends SubscriptionInAccount<PricingPlanDto>,
    Pick<AccountRow, "organisationId" | "orgAlias" | "appId" | "appSlug" | "appName" | "vendorId"> {
  /** The last ones. */
  plan: PricingPlanDto;
}

export type ReadAccount = readonly AccountedSubscription[];

/** The accounts that the subscriptions belong to, one for each currency, with what prices depend on since a time. */
export async function readAccounts(
  database: Kysely<DB>,
  ids: readonly string[],
  since: Date,
  plans: KnownPlans = new Map(),
): Promise<ReadAccount[]> {
  const rows = await findAccountRows(database, ids, since);
  await addPlans(
    database,
    plans,
    rows.flatMap(({ planId, endedPeriods }) => [planId, ...endedPeriods.map((ended) => ended.planId)]),
  );
  const subscriptions = rows.map((row) => toSubscription(row, plans));
  const keyOf = ({ organisationId, appId, plan }: AccountedSubscription): string =>
    `${organisationId} ${appId} ${plan.currency}`;
  return [...Map.groupBy(subscriptions, keyOf).values()];
}

function toSubscription(
  { activeSince, pausedAt, pauseReason, planId, quantity, endedPeriods, endedPauses, ...row }: AccountRow,
  plans: KnownPlans,
): AccountedSubscription {
  const plan = getKnownPlan(plans, planId);
  const ended = endedPeriods.map(({ from, to, planId: id, quantity: units }) => ({
    from: new Date(from),
    to: new Date(to),
    plan: getKnownPlan(plans, id),
    quantity: units,
  }));
  const pauses = endedPauses.map(({ from, to, reason }) => ({ from: new Date(from), to: new Date(to), reason }));
  return {
    ...row,
    plan,
    periods: activeSince === null ? ended : [...ended, { from: activeSince, to: null, plan, quantity }],
    pauses: pausedAt === null ? pauses : [...pauses, { from: pausedAt, to: null, reason: pauseReason }],
  };
}
