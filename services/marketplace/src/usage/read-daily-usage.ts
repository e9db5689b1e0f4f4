import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { type DailyUsage, findDailyUsage } from "./usage-store.ts";

export type { DailyUsage } from "./usage-store.ts";

/** The days with usage of each subscription that has any, in order. */
export async function readDailyUsage(
  database: Kysely<DB>,
  subscriptionIds: readonly string[],
  period: { from: Date; to: Date },
): Promise<Map<string, DailyUsage[]>> {
  const days = await findDailyUsage(database, subscriptionIds, period);
  return Map.groupBy(days, ({ subscriptionId }) => subscriptionId);
}
