import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { findConfirmedSubscriptionTo, findSubscription, findSubscriptions } from "./subscription-store.ts";

export interface KnownState {
  status: string;
  asOf: Date;
  isConfirmed: boolean;
}

/** Whether this or something newer is known of the subscription. Once it is, it stays so. */
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
    rows.map(({ id, status, as_of, confirmed_at }) => [
      id,
      { status, asOf: as_of, isConfirmed: confirmed_at !== null },
    ]),
  );
}

/** Whether the organisation ever had the app installed: what is known of a subscription stays. */
export async function everHad(database: Kysely<DB>, orgAlias: string, appSlug: string): Promise<boolean> {
  return (await findConfirmedSubscriptionTo(database, orgAlias, appSlug)) !== undefined;
}
