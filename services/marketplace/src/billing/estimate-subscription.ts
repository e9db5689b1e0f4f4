import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { readHistories } from "../subscriptions/read-history.ts";
import { readDailyUsage } from "../usage/read-daily-usage.ts";
import { estimateMonth, type MonthEstimate } from "./charge-month.ts";
import { periodOf, toMonth } from "./month.ts";

/** What a subscription costs in the current month. */
export async function estimateSubscription(
  database: Kysely<DB>,
  subscriptionId: string,
  now: Date,
): Promise<MonthEstimate & { month: string; currency: string }> {
  const month = toMonth(now);
  const period = periodOf(month);
  const [history] = await readHistories(database, [subscriptionId], period.from);
  if (history === undefined) throw new Error(`subscription ${subscriptionId} doesn't exist`);
  const usage = (await readDailyUsage(database, [subscriptionId], period)).get(subscriptionId) ?? [];
  const { currency } = history.terms[0].plan;
  return { month, currency, ...estimateMonth({ month, history, usage }, now) };
}
