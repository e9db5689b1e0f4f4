import type { Role } from "@ehr-marketplace/service-kit/tokens";
import type { Transaction } from "kysely";
import type { RequestContext } from "../access/request-context.ts";
import type { DB } from "../database-schema.ts";
import { lockAccountRows } from "./account-store.ts";
import { requireCommandRole } from "./change-subscription.ts";
import { subscriptionNotFound } from "./read-subscriptions.ts";
import { type LockedSubscription, lockSubscription } from "./subscription-store.ts";

export type { LockedSubscription } from "./subscription-store.ts";

/** Locks a subscription until the transaction ends. Undefined if it doesn't exist. */
export const lockAnySubscription = (
  transaction: Transaction<DB>,
  id: string,
): Promise<LockedSubscription | undefined> => lockSubscription(transaction, id);

/** Locks the account of a subscription that is locked. */
export const lockAccountOf = (transaction: Transaction<DB>, { row }: LockedSubscription): Promise<void> =>
  lockAccountRows(transaction, { organisationId: row.organisation_id, appId: row.app_id });

/** Locks a subscription for which the caller has one of the roles. */
export async function lockOwnSubscription(
  transaction: Transaction<DB>,
  by: RequestContext,
  id: string,
  roles: readonly Role[],
): Promise<{ locked: LockedSubscription; role: Role }> {
  const locked = await lockSubscription(transaction, id);
  if (locked === undefined) throw subscriptionNotFound();
  return { locked, role: requireCommandRole(by, locked, roles) };
}
