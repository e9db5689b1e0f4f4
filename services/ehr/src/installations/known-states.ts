import type { Kysely, Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import {
  findConfirmedSubscriptionTo,
  findSubscription,
  findSubscriptions,
  updateListed,
} from "./subscription-store.ts";

export interface KnownState {
  appSlug: string;
  status: string;
  asOf: Date;
  isConfirmed: boolean;
  /** Whether the marketplace's list ever had it. */
  isListed: boolean;
}

/** Whether this or something newer is known of the subscription. Once it is, it stays so, unless reconciliation corrects it. */
export async function isKnownState(
  database: Kysely<DB>,
  orgAlias: string,
  subscriptionId: string,
  asOf: Date,
): Promise<boolean> {
  const known = await findSubscription(database, orgAlias, subscriptionId);
  return known !== undefined && known.as_of >= asOf;
}

/** Every subscription of the organisation by its id, cancelled ones too. */
export async function findKnownStates(database: Kysely<DB>, orgAlias: string): Promise<Map<string, KnownState>> {
  const rows = await findSubscriptions(database, orgAlias);
  return new Map(
    rows.map((row) => [
      row.id,
      {
        appSlug: row.app_slug,
        status: row.status,
        asOf: row.as_of,
        isConfirmed: row.confirmed_at !== null,
        isListed: row.listed_at !== null,
      },
    ]),
  );
}

/** Whether the organisation ever had the app installed: what is known of a subscription stays. */
export async function everHad(database: Kysely<DB>, orgAlias: string, appSlug: string): Promise<boolean> {
  return (await findConfirmedSubscriptionTo(database, orgAlias, appSlug)) !== undefined;
}

/** The marketplace's list has these. The caller holds the organisation's lock. */
export async function noteListed(
  transaction: Transaction<DB>,
  orgAlias: string,
  listed: { id: string; appSlug: string }[],
  now: Date,
): Promise<void> {
  await updateListed(transaction, orgAlias, listed, now);
}
