import {
  type ListAllSubscriptionsQuery,
  type ListVendorSubscriptionsQuery,
  type PageQuery,
  type SubscriptionPage,
  subscriptionStatuses,
} from "@ehr-marketplace/contracts";
import { pageOf } from "@ehr-marketplace/service-kit/http";
import type { Kysely } from "kysely";
import type { ActingForVendor } from "../access/acting-for-vendor.ts";
import type { DB } from "../database-schema.ts";
import { findInRanges, type ListFilter } from "./subscription-list-store.ts";
import { subscriptionRecord } from "./subscription-record.ts";

function listPage(database: Kysely<DB>, filter: ListFilter, query: PageQuery): Promise<SubscriptionPage> {
  return pageOf(query, {
    find: (slice) => findInRanges(database, filter, slice),
    timeOf: (row) => row.created_at,
    itemOf: subscriptionRecord,
  });
}

/** The subscriptions to a vendor's apps, whoever has them. */
export function listVendorSubscriptions(
  database: Kysely<DB>,
  { vendor }: ActingForVendor,
  query: ListVendorSubscriptionsQuery,
): Promise<SubscriptionPage> {
  const { appSlug, status } = query;
  return listPage(
    database,
    { vendor, appSlug, statuses: status === undefined ? subscriptionStatuses : [status] },
    query,
  );
}

/** All subscriptions. Access is the route's: its roles hold everywhere. */
export function listAllSubscriptions(
  database: Kysely<DB>,
  query: ListAllSubscriptionsQuery,
): Promise<SubscriptionPage> {
  const { orgAlias, appSlug, status, pauseReason } = query;
  // Only paused ones have a reason.
  const possible = pauseReason === undefined ? subscriptionStatuses : (["paused"] as const);
  const statuses = possible.filter((each) => status === undefined || each === status);
  return listPage(database, { orgAlias, appSlug, pauseReason, statuses }, query);
}
