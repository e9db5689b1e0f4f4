import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { type AccountedSubscription, readAccounts } from "../subscriptions/read-accounts.ts";
import { readDailyUsage } from "../usage/read-daily-usage.ts";
import { estimateMonth, linesOf } from "./charge-month.ts";
import { beginsAt } from "./charged-days.ts";
import { type Month, periodOf, toMonth } from "./month.ts";
import { type PricedLine, totalOf } from "./price.ts";

/** What a subscription costs in the current month, without credits: they give a spend limit no room. */
export interface SubscriptionEstimate {
  month: Month;
  currency: string;
  lines: PricedLine[];
  total: bigint;
  projectedTotal: bigint;
  /** The subscriptions whose costs these are. */
  subscriptionIds: string[];
  /** Of all of the organisation's subscriptions to the app: a spend limit is one for all of them. */
  accountTotal: bigint;
}

/** In its estimate, the last subscription of an account has what the earlier ones have cost in the month, too. */
export async function estimateSubscription(
  database: Kysely<DB>,
  subscriptionId: string,
  now: Date,
  { isResumed = false } = {},
): Promise<SubscriptionEstimate> {
  const month = toMonth(now);
  const accounts = await readAccounts(database, [subscriptionId], beginsAt(month));
  const read = accounts.find((each) => each.some(({ id }) => id === subscriptionId));
  const account = isResumed ? read?.map(asResumed) : read;
  const subscription = account?.find(({ id }) => id === subscriptionId);
  if (account === undefined || subscription === undefined) {
    throw new Error(`subscription ${subscriptionId} doesn't exist`);
  }
  const ids = account.map(({ id }) => id);
  const usage = await readDailyUsage(database, ids, periodOf(month));
  const { lines, projected } = estimateMonth({ month, account, usage }, now);
  const isLast = account.at(-1) === subscription;
  const own = isLast ? lines : linesOf(lines, subscriptionId);
  return {
    month,
    currency: subscription.plan.currency,
    lines: own,
    subscriptionIds: isLast ? ids : [subscriptionId],
    total: totalOf(own),
    projectedTotal: totalOf(isLast ? projected : linesOf(projected, subscriptionId)),
    accountTotal: totalOf(lines),
  };
}

/** A pause at the limit that ends in its month counts as the practice's own. */
const asResumed = (subscription: AccountedSubscription): AccountedSubscription => ({
  ...subscription,
  pauses: subscription.pauses.map((pause) => (pause.to === null ? { ...pause, reason: "ORG_REQUEST" } : pause)),
});
