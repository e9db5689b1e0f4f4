import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { type DatedUsage, findDailyUsage } from "./usage-store.ts";

export type { DatedUsage, PlanUsage } from "./usage-store.ts";

/** The days with usage of subscriptions, in order. */
export function readDailyUsage(
  database: Kysely<DB>,
  subscriptionIds: readonly string[],
  period: { from: Date; to: Date },
): Promise<DatedUsage[]> {
  return findDailyUsage(database, subscriptionIds, period);
}
