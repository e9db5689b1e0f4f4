import type { EstimateDto } from "@ehr-marketplace/contracts";
import type { Caller } from "@ehr-marketplace/service-kit/tokens";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { readHistories } from "../subscriptions/read-history.ts";
import { requireReadableSubscription } from "../subscriptions/read-subscriptions.ts";
import { readDailyUsage } from "../usage/read-daily-usage.ts";
import { toChargeLine } from "./charge-line.ts";
import { estimateMonth, type MonthEstimate } from "./charge-month.ts";
import { periodOf, toMonth } from "./month.ts";

export interface BillingDeps {
  database: Kysely<DB>;
  clock: () => Date;
}

/** What a subscription costs this month, for everyone who may read it. */
export async function readEstimate(
  { database, clock }: BillingDeps,
  caller: Caller,
  subscriptionId: string,
  vendorNamed: string | undefined,
): Promise<EstimateDto> {
  await requireReadableSubscription(database, caller, subscriptionId, vendorNamed);
  const { currency, month, lines, ...totals } = await estimateSubscription(database, subscriptionId, clock());
  return { month, currency, lines: lines.map(toChargeLine), ...totals };
}

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
