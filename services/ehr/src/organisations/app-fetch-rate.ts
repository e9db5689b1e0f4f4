import type { Kysely, Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { advanceAppFetches } from "./organisation-store.ts";

/** One organisation causes at most 30 catalog requests a minute, at all processes together. */
const intervalMs = 2_000;
const burstMs = 60_000;

/** For an event, which can wait: after how many seconds the catalog may be requested for the app that it names. */
export async function reserveAppFetch(transaction: Transaction<DB>, orgAlias: string, now: Date): Promise<number> {
  const until = await advanceAppFetches(transaction, orgAlias, { now, intervalMs });
  if (until === undefined) return 0;
  return Math.max(0, Math.ceil((until.getTime() - now.getTime() - burstMs) / 1_000));
}

/** For a request, which can't wait: whether the catalog may be requested now. */
export async function canFetchApp(database: Kysely<DB>, orgAlias: string, now: Date): Promise<boolean> {
  const noLaterThan = new Date(now.getTime() + burstMs);
  return (await advanceAppFetches(database, orgAlias, { now, intervalMs, noLaterThan })) !== undefined;
}
