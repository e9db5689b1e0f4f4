import type { Kysely, Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import {
  findConfirmedSubscriptionTo,
  findSubscribedOrganisations,
  findSubscription,
  findSubscriptions,
  updateListed,
} from "./subscription-store.ts";

export interface StoredState {
  appSlug: string;
  status: string;
  asOf: Date;
  fhirScopes: string | null;
  /** Null: not known, or not paused. */
  pauseReason: string | null;
  isConfirmed: boolean;
  /** Whether the marketplace's list ever contained it. */
  isListed: boolean;
}

/** Whether the stored state is as new as `asOf` or newer. That stays so, unless reconciliation corrects the stored state. */
export async function isOutdatedState(
  database: Kysely<DB>,
  orgAlias: string,
  subscriptionId: string,
  asOf: Date,
): Promise<boolean> {
  const known = await findSubscription(database, orgAlias, subscriptionId);
  return known !== undefined && known.as_of >= asOf;
}

/** The organisation's subscriptions by id, including cancelled ones. */
export async function findStoredStates(database: Kysely<DB>, orgAlias: string): Promise<Map<string, StoredState>> {
  const rows = await findSubscriptions(database, orgAlias);
  return new Map(
    rows.map((row) => [
      row.id,
      {
        appSlug: row.app_slug,
        status: row.status,
        asOf: row.as_of,
        fhirScopes: row.fhir_scopes,
        pauseReason: row.pause_reason,
        isConfirmed: row.confirmed_at !== null,
        isListed: row.listed_at !== null,
      },
    ]),
  );
}

/** Whether the organisation ever had the app installed. Cancelled subscriptions stay stored. */
export async function wasEverInstalled(database: Kysely<DB>, orgAlias: string, appSlug: string): Promise<boolean> {
  return (await findConfirmedSubscriptionTo(database, orgAlias, appSlug)) !== undefined;
}

/** The marketplace gives a vendor at most this many sandbox organisations. */
const maxSandboxSubscribers = 20;

/** The organisations with a live subscription to a sandbox app, confirmed or not. */
export const findSandboxSubscribers = (database: Kysely<DB>, appSlug: string): Promise<string[]> =>
  findSubscribedOrganisations(database, appSlug, maxSandboxSubscribers);

/** Marks subscriptions as contained in the marketplace's list. The caller holds the organisation's lock. */
export async function markListed(
  transaction: Transaction<DB>,
  orgAlias: string,
  listed: { id: string; appSlug: string }[],
  now: Date,
): Promise<void> {
  await updateListed(transaction, orgAlias, listed, now);
}
