import type { Kysely, Transaction } from "kysely";
import type { Month } from "../billing/month.ts";
import type { DB } from "../database-schema.ts";
import { deleteLateUsage, findLateUsage, type LateUsage, upsertLateUsage } from "./usage-store.ts";

/** Which of the subscriptions had usage of these months reported, or taken back, since a time after they were over. */
export function readLateUsage(
  database: Kysely<DB>,
  subscriptionIds: readonly string[],
  { months, reportedSince }: { months: readonly Month[]; reportedSince: Date },
): Promise<LateUsage[]> {
  return findLateUsage(database, subscriptionIds, { months, reportedSince });
}

/** Remembers that a month costs something else than it did when it was over. */
export function rememberLateChange(
  transaction: Transaction<DB>,
  subscriptionId: string,
  month: Month,
  now: Date,
): Promise<void> {
  return upsertLateUsage(transaction, subscriptionId, [month], now);
}

/** Usage of these months can't be reported any more. */
export function forgetLateUsage(
  transaction: Transaction<DB>,
  subscriptionIds: readonly string[],
  before: Month,
): Promise<void> {
  return deleteLateUsage(transaction, subscriptionIds, before);
}
