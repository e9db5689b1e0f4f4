import type { RejectionReason, ReviewStatus } from "@ehr-marketplace/contracts";
import { type Kysely, type NotNull, sql, type Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import type { StoredDraft } from "../listings/read-listings.ts";

export interface RevisionRow {
  number: number;
  name: string;
  version: string;
  status: ReviewStatus;
  is_public: boolean;
  submitted_at: Date;
  decided_at: Date | null;
}

export interface RevisionContent {
  id: string;
  draft: StoredDraft;
  encrypted_review_notes: string | null;
  reasons: RejectionReason[] | null;
}

/** The revisions of a vendor's listing. Those that were adopted have no review, and count as approved. */
const ofListing = (database: Kysely<DB>, vendor: string, slug: string) =>
  database
    .selectFrom("revisions")
    .innerJoin("listings", "listings.app_id", "revisions.app_id")
    .innerJoin("vendors", "vendors.id", "listings.vendor_id")
    .leftJoin("reviews", (join) =>
      join.onRef("reviews.app_id", "=", "revisions.app_id").onRef("reviews.number", "=", "revisions.number"),
    )
    .where("vendors.slug", "=", vendor)
    .where("listings.slug", "=", slug)
    .select([
      "revisions.number",
      "revisions.name",
      "revisions.version",
      sql<ReviewStatus>`coalesce(reviews.status, 'approved')`.as("status"),
      sql<boolean>`listings.published_revision is not distinct from revisions.number`.as("is_public"),
      "revisions.submitted_at",
      sql<Date | null>`case when revisions.adopted then revisions.submitted_at else reviews.decided_at end`.as(
        "decided_at",
      ),
    ]);

/** Newest first, without the drafts. */
export function findRevisions(
  database: Kysely<DB>,
  { vendor, slug }: { vendor: string; slug: string },
  { before, limit }: { before: number; limit: number },
): Promise<RevisionRow[]> {
  return ofListing(database, vendor, slug)
    .where("revisions.number", "<", before)
    .orderBy("revisions.number", "desc")
    .limit(limit)
    .execute();
}

export function findRevision(
  database: Kysely<DB>,
  { vendor, slug, number }: { vendor: string; slug: string; number: number },
): Promise<(RevisionRow & RevisionContent) | undefined> {
  return ofListing(database, vendor, slug)
    .where("revisions.number", "=", number)
    .select(["revisions.id", "revisions.draft", "revisions.encrypted_review_notes", "reviews.reasons"])
    .$castTo<RevisionRow & RevisionContent>()
    .executeTakeFirst();
}

export interface VersionRow {
  number: number;
  version: string;
  release_notes: string | null;
  published_at: Date;
}

/** The approved revisions of an app, newest first. Only the first can be adopted: it was public before there were reviews. */
export async function findVersions(
  database: Kysely<DB>,
  appId: string,
  { before, limit }: { before: number; limit: number },
): Promise<VersionRow[]> {
  const { rows } = await sql<VersionRow>`
    select number, version, nullif(draft ->> 'releaseNotes', '') as release_notes, published_at
    from (
      (
        select app_id, number, decided_at as published_at from reviews
        where app_id = ${appId} and decision = 'approved' and number < ${before} order by number desc limit ${limit}
      )
      union all
      select app_id, number, submitted_at from revisions
      where app_id = ${appId} and number = 1 and adopted and number < ${before}
    ) published
    join revisions using (app_id, number)
    order by number desc limit ${limit}`.execute(database);
  return rows;
}

/** Locks revisions whose review notes were encrypted with another key version. */
export function lockRevisionNotesToReencrypt(transaction: Transaction<DB>, version: number, limit: number) {
  return transaction
    .selectFrom("revisions")
    .select(["id", "encrypted_review_notes"])
    .where("encrypted_review_notes", "not like", `${version}.%`)
    .$narrowType<{ encrypted_review_notes: NotNull }>()
    .orderBy("id")
    .limit(limit)
    .forUpdate()
    .execute();
}

export async function updateRevisionNotes(transaction: Transaction<DB>, id: string, encrypted: string): Promise<void> {
  await transaction.updateTable("revisions").set({ encrypted_review_notes: encrypted }).where("id", "=", id).execute();
}
