import {
  type ListAllSubscriptionsQuery,
  type ListVendorSubscriptionsQuery,
  type PageQuery,
  type SubscriptionPage,
  subscriptionStatuses,
} from "@ehr-marketplace/contracts";
import { listPage } from "@ehr-marketplace/service-kit/http";
import type { Kysely } from "kysely";
import type { VendorContext } from "../access/vendor-context.ts";
import type { DB } from "../database-schema.ts";
import { findFilteredSubscriptions, type ListFilter } from "./subscription-list-store.ts";
import { subscriptionRecord } from "./subscription-record.ts";

function listSubscriptionPage(database: Kysely<DB>, filter: ListFilter, query: PageQuery): Promise<SubscriptionPage> {
  return listPage(query, {
    find: (slice) => findFilteredSubscriptions(database, filter, slice),
    getTime: (row) => row.created_at,
    toItem: subscriptionRecord,
  });
}

/** Lists the subscriptions of all organisations to a vendor's apps. */
export function listVendorSubscriptions(
  database: Kysely<DB>,
  { vendor }: VendorContext,
  query: ListVendorSubscriptionsQuery,
): Promise<SubscriptionPage> {
  const { appSlug, status } = query;
  return listSubscriptionPage(
    database,
    { vendor, appSlug, statuses: status === undefined ? subscriptionStatuses : [status] },
    query,
  );
}

/** Lists all subscriptions. The route checks access: its roles aren't bound to an organisation. */
export function listAllSubscriptions(
  database: Kysely<DB>,
  query: ListAllSubscriptionsQuery,
): Promise<SubscriptionPage> {
  const { orgAlias, vendor, appSlug, status, pauseReason } = query;
  // Only paused subscriptions have a reason.
  const possible = pauseReason === undefined ? subscriptionStatuses : (["paused"] as const);
  const statuses = possible.filter((each) => status === undefined || each === status);
  return listSubscriptionPage(database, { orgAlias, vendor, appSlug, pauseReason, statuses }, query);
}
