import type {
  ListedSubscriptionDto,
  ListSubscriptionsQuery,
  MarketplaceEpoch,
  SubscriptionDto,
  SubscriptionState,
} from "@ehr-marketplace/contracts";
import { invalidRequest, Problem } from "@ehr-marketplace/service-kit/http";
import { type Caller, findRoleForOrganisation, type Role } from "@ehr-marketplace/service-kit/tokens";
import type { Kysely } from "kysely";
import { requireRole } from "../access/require-role.ts";
import { resolveVendor } from "../access/vendor-context.ts";
import type { DB } from "../database-schema.ts";
import { findEpoch } from "./epoch-store.ts";
import { subscriptionProblems } from "./subscription-errors.ts";
import { subscriptionRecord, subscriptionState } from "./subscription-record.ts";
import { findCursor, findSubscription, findSubscriptions, type SubscriptionRow } from "./subscription-store.ts";

/** Roles that may read an organisation's subscriptions. Developers of a vendor read those to the vendor's apps. */
export const readerRoles: readonly Role[] = ["org-admin", "org-member", "ehr-service", "operator"];

/** They may also read a single one, as they may list all of them. */
const recordReaderRoles: readonly Role[] = [...readerRoles, "billing", "auditor"];

const maxPageSize = 1_000;

/** The same problem whether the subscription doesn't exist or belongs to others, so that callers can't discover ids. */
export function subscriptionNotFound(): Problem {
  return new Problem(subscriptionProblems.notFound, "No subscription of yours has that id.");
}

export async function getSubscription(
  database: Kysely<DB>,
  caller: Caller,
  id: string,
  vendorNamed: string | undefined,
): Promise<SubscriptionDto> {
  return subscriptionRecord(await requireReadableSubscription(database, caller, id, vendorNamed));
}

/** Throws 404 unless the caller may read the subscription. */
export async function requireReadableSubscription(
  database: Kysely<DB>,
  caller: Caller,
  id: string,
  vendorNamed: string | undefined,
): Promise<SubscriptionRow> {
  const row = await findSubscription(database, id);
  if (row !== undefined && findRoleForOrganisation(caller, row.org_alias, recordReaderRoles) !== undefined) return row;
  const vendor = caller.roles.has("vendor-developer") ? resolveVendor(caller, vendorNamed) : undefined;
  if (row === undefined || row.vendor_slug !== vendor) throw subscriptionNotFound();
  return row;
}

/** A live subscription of an EHR's organisation to a sandbox app. All others are not found. */
export async function requireSandboxSubscription(
  database: Kysely<DB>,
  caller: Caller,
  id: string,
): Promise<{ appId: string; orgAlias: string; role: Role }> {
  const row = await findSubscription(database, id);
  const role = row && findRoleForOrganisation(caller, row.org_alias, ["ehr-service"]);
  const isSandbox = row?.sandbox_revision != null && row.status !== "cancelled";
  if (row === undefined || role === undefined || !isSandbox) throw subscriptionNotFound();
  return { appId: row.app_id, orgAlias: row.org_alias, role };
}

/** A response that a process of the version before stored for an idempotency key has no scopes. */
export async function addMissingScopes(
  database: Kysely<DB>,
  stored: Omit<SubscriptionState, "fhirScopes" | "pendingScopes"> & Partial<SubscriptionState>,
): Promise<SubscriptionState> {
  const { fhirScopes, pendingScopes } = stored;
  if (fhirScopes !== undefined && pendingScopes !== undefined) return { ...stored, fhirScopes, pendingScopes };
  const row = await findSubscription(database, stored.id);
  if (row === undefined) throw subscriptionNotFound();
  const state = subscriptionState(row);
  return { ...stored, fhirScopes: state.fhirScopes, pendingScopes: state.pendingScopes };
}

export interface SubscriptionList {
  items: ListedSubscriptionDto[];
  /** The id to pass as `after` for the next page; undefined on the last page. */
  next: string | undefined;
  epoch: MarketplaceEpoch | undefined;
}

export async function listSubscriptions(
  database: Kysely<DB>,
  caller: Caller,
  query: ListSubscriptionsQuery,
): Promise<SubscriptionList> {
  requireRole(caller, query.orgAlias, readerRoles);
  const { orgAlias: alias, status } = query;
  const after = query.after === undefined ? undefined : await findCursor(database, alias, query.after);
  if (query.after !== undefined && after === undefined) {
    throw invalidRequest("/query/after", "is not a subscription of this organisation");
  }
  const limit = Math.min(query.limit ?? maxPageSize, maxPageSize);
  const withApp = query.expand === "app";
  const rows = await findSubscriptions(database, { alias, status, after, limit: limit + 1, withApp });
  const items = rows.slice(0, limit).map((row) => ({ ...subscriptionRecord(row), ...row.expanded }));
  // Read after the list: if another database server takes over meanwhile, an old list has the new epoch, and never a new one the old.
  const epoch = await findEpoch(database);
  return { items, next: rows.length > limit ? items.at(-1)?.id : undefined, epoch };
}
