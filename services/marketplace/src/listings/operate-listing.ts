import type { AdminAppDto, SuspendAppBody } from "@ehr-marketplace/contracts";
import type { Kysely } from "kysely";
import type { RequestContext } from "../access/request-context.ts";
import type { DB } from "../database-schema.ts";
import { type AdminAppRow, findAdminApp, updateFeatured } from "./admin-app-store.ts";
import { type AppliedChange, changeAnyListing, type ListingChange } from "./change-listing.ts";
import { type ListingCommand, listingStatus } from "./listing-state.ts";
import { appNotListed, factsOf, type ListingRow } from "./read-listings.ts";

interface AdminDeps {
  database: Kysely<DB>;
  clock: () => Date;
}

export async function getAdminApp({ database }: Pick<AdminDeps, "database">, slug: string): Promise<AdminAppDto> {
  const row = await findAdminApp(database, slug);
  if (row === undefined) throw appNotListed();
  return adminAppOf(row);
}

const adminAppOf = (row: AdminAppRow): AdminAppDto => ({
  slug: row.slug,
  name: row.name,
  vendor: row.vendor,
  status: listingStatus(factsOf(row)),
  publishedRevision: row.published_revision,
  featured: row.featured,
  suspension:
    row.suspended_at === null ? null : { since: row.suspended_at.toISOString(), reason: row.suspension_reason ?? "" },
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

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
        return { audit: auditOf(row, command, { featured: before }, { featured }) };
      },
    });
  };

/** Recommends the app in `/apps/featured`. */
export const featureApp = setFeatured(true);
export const unfeatureApp = setFeatured(false);

/** Takes the app out of the catalog, so that nobody can subscribe to it, until it is reinstated. */
export const suspendApp = (
  deps: AdminDeps,
  by: RequestContext,
  slug: string,
  { reason }: SuspendAppBody,
): Promise<AdminAppDto> =>
  operate(deps, by, slug, {
    command: "suspend",
    apply: (_transaction, row, at) =>
      Promise.resolve({
        changes: { suspended_at: at, suspension_reason: reason },
        audit: auditOf(row, "suspend", { suspension: null }, { suspension: { reason } }),
      }),
  });

export const reinstateApp = (deps: AdminDeps, by: RequestContext, slug: string): Promise<AdminAppDto> =>
  operate(deps, by, slug, {
    command: "reinstate",
    apply: (_transaction, row) =>
      Promise.resolve({
        changes: { suspended_at: null, suspension_reason: null },
        audit: auditOf(row, "reinstate", { suspension: { reason: row.suspension_reason } }, { suspension: null }),
      }),
  });
