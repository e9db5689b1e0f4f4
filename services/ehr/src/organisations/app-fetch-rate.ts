import type { Kysely, Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { advanceAppFetches, findAppFetchesUntil } from "./organisation-store.ts";

/** The limit of catalog requests that one organisation causes, over all processes. */
export const appFetchesPerMinute = 30;
const burstMs = 60_000;
const intervalMs = burstMs / appFetchesPerMinute;
/** Without this limit forged events could reserve hours, and a genuine new app would have to wait for them. */
const maxReservedMs = 300_000;

/**
 * Reserves a catalog request for an event, which can wait: returns the delay in seconds. Undefined if five minutes are reserved already: then
 * no job is sent, and the hourly refresh fetches the app.
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

/** Takes a catalog request for an API request, which can't wait: returns 0 if it is allowed now, else the seconds until it is. */
export async function takeAppFetch(database: Kysely<DB>, orgAlias: string, now: Date): Promise<number> {
  const noLaterThan = new Date(now.getTime() + burstMs);
  if ((await advanceAppFetches(database, orgAlias, { now, intervalMs, noLaterThan })) !== undefined) return 0;
  const until = (await findAppFetchesUntil(database, orgAlias)) ?? now;
  return Math.max(1, secondsUntilAllowed(new Date(until.getTime() + intervalMs), now));
}

const secondsUntilAllowed = (until: Date, now: Date): number =>
  Math.max(0, Math.ceil((until.getTime() - now.getTime() - burstMs) / 1_000));
