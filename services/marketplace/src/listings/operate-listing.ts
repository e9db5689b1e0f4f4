import type {
  AdminAppDto,
  AdminAppPage,
  AdminAppSummary,
  ListAdminAppsQuery,
  SuspendAppBody,
} from "@ehr-marketplace/contracts";
import { listPage } from "@ehr-marketplace/service-kit/http";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Kysely, Transaction } from "kysely";
import type { RequestContext } from "../access/request-context.ts";
import type { DB } from "../database-schema.ts";
import type { NewNotice } from "../notices/notice.ts";
import { recordNotice } from "../notices/record-notice.ts";
import {
  endSuspension,
  findProgress,
  isPausing,
  type SuspensionProgress,
  startSuspension,
} from "../suspensions/manage-suspensions.ts";
import { notifyOfSuspension, stopNotifyingOfSuspension } from "../suspensions/notify-of-suspension.ts";
import { type AdminAppRow, findAdminApp, findAdminApps, updateFeatured } from "./admin-app-store.ts";
import { type AppliedChange, changeAnyListing, type ListingChange } from "./change-listing.ts";
import { type ListingCommand, listingStatus } from "./listing-state.ts";
import { appNotListed, factsOf, type ListingRow, plainSuspensionOf } from "./read-listings.ts";

interface AdminDeps {
  database: Kysely<DB>;
  queue: Queue;
  clock: () => Date;
}

export async function getAdminApp({ database }: Pick<AdminDeps, "database">, slug: string): Promise<AdminAppDto> {
  const row = await findAdminApp(database, slug);
  if (row === undefined) throw appNotListed();
  return adminAppOf(row, await findProgress(database, row.app_id));
}

/** The apps and drafts of all vendors. */
export function listAdminApps(
  { database }: Pick<AdminDeps, "database">,
  query: ListAdminAppsQuery,
): Promise<AdminAppPage> {
  return listPage(query, {
    find: (slice) => findAdminApps(database, query, slice),
    getTime: (row) => row.created_at,
    toItem: (row): AdminAppSummary => ({ ...summaryOf(row), suspension: plainSuspensionOf(row) }),
    // The name of what was never published is in the draft, which may have 256 KiB.
    maxItems: 100,
  });
}

const adminAppOf = (row: AdminAppRow, progress: SuspensionProgress | undefined): AdminAppDto => ({
  ...summaryOf(row),
  suspension: suspensionOf(row, progress),
});

const summaryOf = (row: AdminAppRow): Omit<AdminAppDto, "suspension"> => ({
  slug: row.slug,
  name: row.name,
  vendor: row.vendor,
  status: listingStatus(factsOf(row)),
  publishedRevision: row.published_revision,
  isUnpublished: row.unpublished_at !== null,
  featured: row.featured,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

/** A reinstated app has one until its subscriptions are resumed. */
function suspensionOf(row: AdminAppRow, progress: SuspensionProgress | undefined): AdminAppDto["suspension"] {
  const since = row.suspended_at ?? progress?.since;
  if (since === undefined) return null;
  const reason = row.suspension_reason ?? progress?.reason ?? "";
  return { since: since.toISOString(), reason, subscriptions: progress?.subscriptions ?? null };
}

async function operate(deps: AdminDeps, by: RequestContext, slug: string, change: ListingChange): Promise<AdminAppDto> {
  await changeAnyListing(deps, by, slug, change);
  return getAdminApp(deps, slug);
}

const auditOf = (row: ListingRow, command: ListingCommand, before: object, after: object): AppliedChange["audit"] => ({
  action: `app.${command}`,
  target: { kind: "app", id: row.slug },
  before: { ...before },
  after: { ...after },
});

const setFeatured =
  (featured: boolean) =>
  (deps: AdminDeps, by: RequestContext, slug: string): Promise<AdminAppDto> => {
    const command = featured ? "feature" : "unfeature";
    return operate(deps, by, slug, {
      command,
      async apply(transaction, row) {
        const before = await updateFeatured(transaction, row.app_id, featured);
        return before === featured ? undefined : { audit: auditOf(row, command, { featured: before }, { featured }) };
      },
    });
  };

/** Recommends the app in `/apps/featured`. */
export const featureApp = setFeatured(true);
export const unfeatureApp = setFeatured(false);

const nameOf = ({ slug, draft }: ListingRow): string => draft.name ?? slug;

const notifyVendor = (
  transaction: Transaction<DB>,
  row: ListingRow,
  at: Date,
  notice: Pick<NewNotice, "severity" | "subject" | "detail">,
): Promise<void> =>
  recordNotice(transaction, {
    ...notice,
    audience: { vendorId: row.vendor_id },
    kind: "app-suspended",
    link: null,
    key: `app-suspended:${row.app_id}:${at.toISOString()}`,
    at,
  });

/**
 * Takes the app out of the catalog, so that nobody can subscribe to it, until it is reinstated. With `pauseSubscriptions`, a background
 * job pauses the active subscriptions, also of an app that is suspended already and whose subscriptions are not paused.
 */
export const suspendApp = (
  deps: AdminDeps,
  by: RequestContext,
  slug: string,
  { reason, pauseSubscriptions = false }: SuspendAppBody,
): Promise<AdminAppDto> =>
  operate(deps, by, slug, {
    command: "suspend",
    facts: async (transaction, row) => ({
      ...factsOf(row),
      startsToPause: pauseSubscriptions && !(await isPausing(transaction, row.app_id)),
    }),
    async apply(transaction, row, at) {
      if (row.suspended_at === null) await notifyOfSuspension(transaction, { appId: row.app_id, at });
      if (pauseSubscriptions) await startSuspension(transaction, deps.queue, { appId: row.app_id, by, at, reason });
      await notifyVendor(transaction, row, at, {
        severity: "critical",
        subject: `${nameOf(row)} is suspended`,
        detail: pauseSubscriptions
          ? "It is out of the catalog, and its subscriptions are paused. The reason is in the listing: talk to the marketplace's operator."
          : "It is out of the catalog, and nobody can subscribe to it. The reason is in the listing: talk to the marketplace's operator.",
      });
      const { suspended_at: since, suspension_reason: earlierReason } = row;
      const before = since === null ? null : { reason: earlierReason, pauseSubscriptions: false };
      return {
        changes: { suspended_at: since ?? at, suspension_reason: reason },
        audit: auditOf(row, "suspend", { suspension: before }, { suspension: { reason, pauseSubscriptions } }),
      };
    },
  });

/** Puts the app back into the catalog. A background job resumes the subscriptions that the suspension has paused. */
export const reinstateApp = (deps: AdminDeps, by: RequestContext, slug: string): Promise<AdminAppDto> =>
  operate(deps, by, slug, {
    command: "reinstate",
    async apply(transaction, row, at) {
      await stopNotifyingOfSuspension(transaction, row.app_id);
      await endSuspension(transaction, deps.queue, { appId: row.app_id, by, at });
      await notifyVendor(transaction, row, at, {
        severity: "info",
        subject: `${nameOf(row)} is reinstated`,
        detail: "The suspension is over. There is nothing to do.",
      });
      return {
        changes: { suspended_at: null, suspension_reason: null },
        audit: auditOf(row, "reinstate", { suspension: { reason: row.suspension_reason } }, { suspension: null }),
      };
    },
  });
