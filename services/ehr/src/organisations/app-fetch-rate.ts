import type { Kysely, Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { advanceAppFetches, findAppFetchesUntil } from "./organisation-store.ts";

/** One organisation causes at most 30 catalog requests a minute, at all processes together. */
export const appFetchesPerMinute = 30;
const burstMs = 60_000;
const intervalMs = burstMs / appFetchesPerMinute;
/** Otherwise forged events could reserve hours, and a genuine new app would wait for them to pass. */
const maxReservedMs = 300_000;

/**
 * For an event, which can wait: after how many seconds the catalog may be requested for the app that it names. Undefined where five minutes
 * are reserved already: then no job is sent, and the hourly refresh fetches the app.
 */
export async function reserveAppFetch(
  transaction: Transaction<DB>,
  orgAlias: string,
  now: Date,
): Promise<number | undefined> {
  const noLaterThan = new Date(now.getTime() + maxReservedMs);
  const until = await advanceAppFetches(transaction, orgAlias, { now, intervalMs, noLaterThan });
  return until && secondsUntilAllowed(until, now);
}

/** For a request, which can't wait: 0 where the catalog may be requested now, else the seconds until it may be. */
export async function takeAppFetch(database: Kysely<DB>, orgAlias: string, now: Date): Promise<number> {
  const noLaterThan = new Date(now.getTime() + burstMs);
  if ((await advanceAppFetches(database, orgAlias, { now, intervalMs, noLaterThan })) !== undefined) return 0;
  const until = (await findAppFetchesUntil(database, orgAlias)) ?? now;
  return Math.max(1, secondsUntilAllowed(new Date(until.getTime() + intervalMs), now));
}

const secondsUntilAllowed = (until: Date, now: Date): number =>
  Math.max(0, Math.ceil((until.getTime() - now.getTime() - burstMs) / 1_000));
