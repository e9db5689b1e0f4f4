import type { ListingDraft, PricingPlanDto, RejectionReason, ReviewStatus } from "@ehr-marketplace/contracts";
import type { PageSlice } from "@ehr-marketplace/service-kit/http";
import {
  type Insertable,
  type Kysely,
  type NotNull,
  type Selectable,
  sql,
  type Transaction,
  type Updateable,
} from "kysely";
import type { DB, Listings } from "../database-schema.ts";

/** The review notes are stored encrypted, in a column of their own. */
export type StoredDraft = Omit<ListingDraft, "reviewNotes">;
/** The newest review of a listing. All null if it was never submitted. */
export interface LastReview {
  review_id: string | null;
  review_status: ReviewStatus | null;
  review_submitted_at: Date | null;
  review_due_at: Date | null;
  review_reasons: RejectionReason[] | null;
}
export const neverSubmitted: LastReview = {
  review_id: null,
  review_status: null,
  review_submitted_at: null,
  review_due_at: null,
  review_reasons: null,
};
export type ListingRow = Omit<Selectable<Listings>, "draft"> & { draft: StoredDraft } & LastReview;
export type ListedRow = Omit<ListingRow, "draft" | "encrypted_review_notes"> & { id: string; name: string };

/** Serialises the creation of listings of a vendor, so that their number is bounded. */
export async function lockCreation(transaction: Transaction<DB>, vendorId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`listings of ${vendorId}`}, 0))`.execute(transaction);
}

export async function countListings(database: Kysely<DB>, vendorId: string): Promise<number> {
  const { count } = await database
    .selectFrom("listings")
    .select(({ fn }) => fn.countAll<string>().as("count"))
    .where("vendor_id", "=", vendorId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Returns false if a listing, or an app that has none, has the slug, or if EHRs know it from a deleted draft. */
export async function insertListing(transaction: Transaction<DB>, row: Insertable<Listings>): Promise<boolean> {
  const app = await transaction.selectFrom("apps").select("id").where("slug", "=", row.slug).executeTakeFirst();
  if (app !== undefined) return false;
  const inserted = await transaction
    .insertInto("listings")
    .values(row)
    .onConflict((conflict) => conflict.column("slug").doNothing())
    .returning("app_id")
    .execute();
  if (inserted.length === 0) return false;
  // Afterwards, because the insertion may have waited for the deletion.
  const deleted = await transaction
    .selectFrom("deleted_drafts")
    .select("app_id")
    .where("slug", "=", row.slug)
    .executeTakeFirst();
  return deleted === undefined;
}

/** The sandbox organisations in which the draft of a listing is installed. At most one for each of the vendor's. */
export async function findSandboxesWith(database: Kysely<DB>, appId: string): Promise<string[]> {
  const found = await database
    .selectFrom("subscriptions")
    .innerJoin("apps", "apps.id", "subscriptions.app_id")
    .innerJoin("organisations", "organisations.id", "subscriptions.organisation_id")
    .select("organisations.alias")
    .where("apps.sandbox_of", "=", appId)
    .where("subscriptions.status", "in", ["active", "paused"])
    .orderBy("organisations.alias")
    .execute();
  return found.map(({ alias }) => alias);
}

/** Deletes a listing without revisions. Its files are marked for deletion. */
export async function deleteListing(transaction: Transaction<DB>, appId: string, at: Date): Promise<void> {
  await sql`select delete_draft(${appId}::uuid, ${at}::timestamptz)`.execute(transaction);
}

export const withLastReview = (database: Kysely<DB>) =>
  database
    .selectFrom("listings")
    .innerJoin("vendors", "vendors.id", "listings.vendor_id")
    .leftJoinLateral(
      (builder) =>
        builder
          .selectFrom("reviews")
          .select([
            "id as review_id",
            "status as review_status",
            "submitted_at as review_submitted_at",
            "due_at as review_due_at",
            "reasons as review_reasons",
          ])
          .whereRef("reviews.app_id", "=", "listings.app_id")
          .orderBy("number", "desc")
          .limit(1)
          .as("last_review"),
      (join) => join.onTrue(),
    );

const ofVendor = (database: Kysely<DB>, vendor: string) => withLastReview(database).where("vendors.slug", "=", vendor);

export function findListing(database: Kysely<DB>, vendor: string, slug: string): Promise<ListingRow | undefined> {
  return ofVendor(database, vendor)
    .selectAll(["listings", "last_review"])
    .$castTo<ListingRow>()
    .where("listings.slug", "=", slug)
    .executeTakeFirst();
}

export function findListingIds(
  database: Kysely<DB>,
  vendor: string,
  slug: string,
): Promise<Pick<ListingRow, "app_id" | "vendor_id"> | undefined> {
  return ofVendor(database, vendor)
    .select(["listings.app_id", "listings.vendor_id"])
    .where("listings.slug", "=", slug)
    .executeTakeFirst();
}

/** Keeps the listing from being deleted until the transaction ends. Returns false if it is deleted already. */
export async function keepListing(transaction: Transaction<DB>, appId: string): Promise<boolean> {
  const found = await transaction
    .selectFrom("listings")
    .select("app_id")
    .where("app_id", "=", appId)
    .forKeyShare()
    .executeTakeFirst();
  return found !== undefined;
}

/** The lock comes first: what one statement reads beside the row that it locks may be older than the lock. */
export async function lockListing(
  transaction: Transaction<DB>,
  vendor: string,
  slug: string,
): Promise<ListingRow | undefined> {
  await transaction
    .selectFrom("listings")
    .select("app_id")
    .where("slug", "=", slug)
    .where("vendor_id", "=", (builder) => builder.selectFrom("vendors").select("id").where("slug", "=", vendor))
    .forUpdate()
    .execute();
  return findListing(transaction, vendor, slug);
}

/** Oldest first, without the drafts: each may have hundreds of kilobytes. */
export function findListings(database: Kysely<DB>, vendor: string, { after, limit }: PageSlice): Promise<ListedRow[]> {
  let query = ofVendor(database, vendor)
    .selectAll("last_review")
    .select([
      "listings.app_id",
      "listings.app_id as id",
      "listings.slug",
      "listings.vendor_id",
      sql<string>`listings.draft ->> 'name'`.as("name"),
      "listings.version",
      "listings.published_revision",
      "listings.unpublished_at",
      "listings.suspended_at",
      "listings.suspension_reason",
      "listings.republished_at",
      "listings.sandbox_launched_at",
      "listings.created_at",
      "listings.updated_at",
    ]);
  if (after !== undefined) {
    query = query.where(
      sql<boolean>`(listings.created_at, listings.app_id) > (${after.at}::timestamptz, ${after.id}::uuid)`,
    );
  }
  return query.orderBy("listings.created_at").orderBy("listings.app_id").limit(limit).$castTo<ListedRow>().execute();
}

/** For operators: a listing of any vendor. */
export async function lockAnyListing(
  transaction: Transaction<DB>,
  slug: string,
): Promise<(ListingRow & { vendor: string }) | undefined> {
  await transaction.selectFrom("listings").select("app_id").where("slug", "=", slug).forUpdate().execute();
  return withLastReview(transaction)
    .selectAll(["listings", "last_review"])
    .select("vendors.slug as vendor")
    .where("listings.slug", "=", slug)
    .$castTo<ListingRow & { vendor: string }>()
    .executeTakeFirst();
}

export type ListingChanges = Pick<
  Updateable<Listings>,
  "unpublished_at" | "republished_at" | "suspended_at" | "suspension_reason"
> & { draft?: StoredDraft };

export async function updateListing(
  transaction: Transaction<DB>,
  appId: string,
  { draft, ...changes }: ListingChanges & { version: number; updated_at: Date },
): Promise<void> {
  await transaction
    .updateTable("listings")
    .set({ ...changes, ...(draft === undefined ? {} : { draft: JSON.stringify(draft) }) })
    .where("app_id", "=", appId)
    .execute();
}

export async function updateDraft(
  transaction: Transaction<DB>,
  { app_id, draft, encrypted_review_notes, version, updated_at }: ListingRow,
): Promise<void> {
  await transaction
    .updateTable("listings")
    .set({ draft: JSON.stringify(draft), encrypted_review_notes, version, updated_at })
    .where("app_id", "=", app_id)
    .execute();
}

export async function recordEditor(
  transaction: Transaction<DB>,
  editor: { app_id: string; issuer: string; subject: string; version: number },
): Promise<void> {
  await transaction
    .insertInto("draft_editors")
    .values(editor)
    .onConflict((conflict) =>
      conflict.columns(["app_id", "issuer", "subject"]).doUpdateSet({ version: editor.version }),
    )
    .execute();
}

/** The plans of an app that are on sale. */
export async function findPlansOnSale(database: Kysely<DB>, appId: string): Promise<PricingPlanDto[]> {
  const rows = await database
    .selectFrom("plan_records")
    .select(sql<PricingPlanDto>`dto`.as("plan"))
    .where("app_id", "=", appId)
    .where("on_sale", "=", true)
    .execute();
  return rows.map(({ plan }) => plan);
}

export async function wasLaunchedInSandbox(database: Kysely<DB>, appId: string): Promise<boolean> {
  const found = await database
    .selectFrom("listings")
    .select("sandbox_launched_at")
    .where("app_id", "=", appId)
    .executeTakeFirst();
  return found !== undefined && found.sandbox_launched_at !== null;
}

/** Returns the listing's slug and its vendor's, or undefined if nothing was recorded: a launch after `before` is already. */
export function recordSandboxLaunch(
  transaction: Transaction<DB>,
  appId: string,
  { at, before }: { at: Date; before: Date },
): Promise<{ slug: string; vendor: string } | undefined> {
  return transaction
    .updateTable("listings")
    .from("vendors")
    .set({ sandbox_launched_at: at })
    .whereRef("vendors.id", "=", "listings.vendor_id")
    .where("app_id", "=", appId)
    .where((where) => where.or([where("sandbox_launched_at", "is", null), where("sandbox_launched_at", "<", before)]))
    .returning(["listings.slug", "vendors.slug as vendor"])
    .executeTakeFirst();
}

/** Locks listings whose review notes were encrypted with another key version. */
export function lockNotesToReencrypt(transaction: Transaction<DB>, version: number, limit: number) {
  return transaction
    .selectFrom("listings")
    .select(["app_id", "encrypted_review_notes"])
    .where("encrypted_review_notes", "not like", `${version}.%`)
    .$narrowType<{ encrypted_review_notes: NotNull }>()
    .orderBy("app_id")
    .limit(limit)
    .forUpdate()
    .execute();
}

export async function updateReviewNotes(transaction: Transaction<DB>, appId: string, encrypted: string): Promise<void> {
  await transaction
    .updateTable("listings")
    .set({ encrypted_review_notes: encrypted })
    .where("app_id", "=", appId)
    .execute();
}

export async function findVocabulary(
  database: Kysely<DB>,
): Promise<{ categories: string[]; extensionPoints: string[] }> {
  const categories = await database.selectFrom("categories").select("category").orderBy("position").execute();
  const points = await database.selectFrom("extension_points").select("name").orderBy("name").execute();
  return { categories: categories.map(({ category }) => category), extensionPoints: points.map(({ name }) => name) };
}
