import type { ListedSubscriptionDto, ListSubscriptionsQuery, SubscriptionDto } from "@ehr-marketplace/contracts";
import { invalidRequest, Problem } from "@ehr-marketplace/service-kit/http";
import { type Caller, type Role, roleFor } from "@ehr-marketplace/service-kit/tokens";
import type { Kysely } from "kysely";
import { actingVendor } from "../access/acting-vendor.ts";
import { requireRole } from "../access/role-for.ts";
import type { DB } from "../database-schema.ts";
import { subscriptionProblems } from "./subscription-errors.ts";
import { subscriptionRecord } from "./subscription-record.ts";
import { findPlace, findSubscription, findSubscriptions } from "./subscription-store.ts";

/** Who may see an organisation's subscriptions; a vendor's developers see those to their own apps. */
export const readers: readonly Role[] = ["org-admin", "org-member", "ehr-service", "operator"];

const mostListed = 1_000;

/** The same whether it doesn't exist or isn't the caller's: nobody learns which. */
export function absent(): Problem {
  return new Problem(subscriptionProblems.notFound, "No subscription of yours has that id.");
}

export async function getSubscription(
  database: Kysely<DB>,
  caller: Caller,
  id: string,
  vendorNamed: string | undefined,
): Promise<SubscriptionDto> {
  const row = await findSubscription(database, id);
  if (row !== undefined && roleFor(caller, row.org_alias, readers) !== undefined) return subscriptionRecord(row);
  const vendor = caller.roles.has("vendor-developer") ? actingVendor(caller, vendorNamed) : undefined;
  if (row === undefined || row.vendor_slug !== vendor) throw absent();
  return subscriptionRecord(row);
}

export interface SubscriptionList {
  items: ListedSubscriptionDto[];
  /** The id to go on after; undefined: nothing is left. */
  next: string | undefined;
}

export async function listSubscriptions(
  database: Kysely<DB>,
  caller: Caller,
  query: ListSubscriptionsQuery,
): Promise<SubscriptionList> {
  requireRole(caller, query.orgAlias, readers);
  const { orgAlias: alias, status } = query;
  const after = query.after === undefined ? undefined : await findPlace(database, alias, query.after);
  if (query.after !== undefined && after === undefined) {
    throw invalidRequest("/query/after", "is no subscription of this organisation");
  }
  const limit = Math.min(query.limit ?? mostListed, mostListed);
  const withApp = query.expand === "app";
  const rows = await findSubscriptions(database, { alias, status, after, limit: limit + 1, withApp });
  const items = rows
    .slice(0, limit)
    .map((row) => ({ ...subscriptionRecord(row), ...(row.app === undefined ? {} : { app: row.app }) }));
  return { items, next: rows.length > limit ? items.at(-1)?.id : undefined };
}
