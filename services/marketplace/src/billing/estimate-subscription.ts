import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { readAccounts } from "../subscriptions/read-accounts.ts";
import { readDailyUsage } from "../usage/read-daily-usage.ts";
import { estimateMonth, linesOf } from "./charge-month.ts";
import { beginsAt } from "./charged-days.ts";
import { periodOf, toMonth } from "./month.ts";
import { type PricedLine, totalOf } from "./price.ts";

/** What a subscription costs in the current month. */
export interface SubscriptionEstimate {
  month: string;
  currency: string;
  lines: PricedLine[];
  total: bigint;
  projectedTotal: bigint;
  /** Of all of the organisation's subscriptions to the app: a spend limit is one for all of them. */
  accountTotal: bigint;
}

export async function estimateSubscription(
  database: Kysely<DB>,
  subscriptionId: string,
  now: Date,
): Promise<SubscriptionEstimate> {
  const month = toMonth(now);
  const [account] = await readAccounts(database, [subscriptionId], beginsAt(month));
  const subscription = account?.find(({ id }) => id === subscriptionId);
  if (account === undefined || subscription === undefined) {
    throw new Error(`subscription ${subscriptionId} doesn't exist`);
  }
  const ids = account.map(({ id }) => id);
  const usage = await readDailyUsage(database, ids, periodOf(month));
  const { lines, projected } = estimateMonth({ month, account, usage }, now);
  const own = linesOf(lines, subscriptionId);
  return {
    month,
    currency: subscription.plan.currency,
    lines: own,
    total: totalOf(own),
    projectedTotal: totalOf(linesOf(projected, subscriptionId)),
    accountTotal: totalOf(lines),
  };
}
