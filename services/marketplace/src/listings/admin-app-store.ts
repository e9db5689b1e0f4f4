import type { ListingStatus } from "@ehr-marketplace/contracts";
import type { PageSlice } from "@ehr-marketplace/service-kit/http";
import { type Kysely, sql, type Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { type ListedRow, withLastReview } from "./listing-store.ts";

export type AdminAppRow = ListedRow & { vendor: string; featured: boolean };

/** Listings of any vendor, with the name that is public. Without the drafts: each may have hundreds of kilobytes. */
const adminApps = (database: Kysely<DB>) =>
  withLastReview(database)
    .leftJoin("apps", "apps.id", "listings.app_id")
    .selectAll("last_review")
    .select([
      "listings.app_id",
      "listings.slug",
      "listings.vendor_id",
      "listings.version",
      "listings.published_revision",
      "listings.unpublished_at",
      "listings.suspended_at",
      "listings.suspension_reason",
      "listings.republished_at",
      "listings.sandbox_launched_at",
      "listings.created_at",
      "listings.updated_at",
      "listings.app_id as id",
      "vendors.slug as vendor",
      sql<string>`coalesce(apps.name, listings.draft ->> 'name')`.as("name"),
      sql<boolean>`coalesce(apps.featured, false)`.as("featured"),
    ])
    .$castTo<AdminAppRow>();

export function findAdminApp(database: Kysely<DB>, slug: string): Promise<AdminAppRow | undefined> {
  return adminApps(database).where("listings.slug", "=", slug).executeTakeFirst();
}

export interface AdminAppFilter {
  status?: ListingStatus | undefined;
  vendor?: string | undefined;
  suspended?: boolean | undefined;
}

/** What `listingStatus` says, for a filter. A test compares the two. */
const status = sql<ListingStatus>`case
  when listings.suspended_at is not null then 'suspended'
  when listings.unpublished_at is not null then 'unpublished'
  when last_review.review_status = 'open' then 'in-review'
  when last_review.review_status = 'rejected' then 'changes-requested'
  when listings.published_revision is null then 'draft'
  else 'published' end`;

/** Newest first. */
export function findAdminApps(
  database: Kysely<DB>,
  filter: AdminAppFilter,
  { after, limit }: PageSlice,
): Promise<AdminAppRow[]> {
  let query = adminApps(database);
  if (filter.vendor !== undefined) query = query.where("vendors.slug", "=", filter.vendor);
  if (filter.suspended !== undefined) {
    query = query.where("listings.suspended_at", filter.suspended ? "is not" : "is", null);
  }
  if (filter.status !== undefined) query = query.where(status, "=", filter.status);
  if (after !== undefined) {
    query = query.where(
      sql<boolean>`(listings.created_at, listings.app_id) < (${after.at}::timestamptz, ${after.id}::uuid)`,
    );
  }
  return query.orderBy("listings.created_at", "desc").orderBy("listings.app_id", "desc").limit(limit).execute();
}

/** Returns whether the app was featured before. */
export async function updateFeatured(transaction: Transaction<DB>, id: string, featured: boolean): Promise<boolean> {
  const before = await transaction.selectFrom("apps").select("featured").where("id", "=", id).executeTakeFirst();
  await transaction
    .updateTable("apps")
    .set({ featured })
    .where("id", "=", id)
    .where("featured", "<>", featured)
    .execute();
  return before?.featured ?? false;
}
