import type { RejectionReason, ReviewStatus, SimilarName } from "@ehr-marketplace/contracts";
import type { PageSlice } from "@ehr-marketplace/service-kit/http";
import { type Insertable, type Kysely, type Selectable, sql, type Transaction } from "kysely";
import type { DB, Reviews, Revisions } from "../database-schema.ts";
import type { StoredDraft } from "../listings/read-listings.ts";

export type ReviewRow = Omit<Selectable<Reviews>, "status" | "reasons"> & {
  status: ReviewStatus;
  slug: string;
  vendor: string;
  name: string;
  version: string;
};
export type ReviewedRow = ReviewRow & {
  reasons: RejectionReason[];
  revision_id: string;
  draft: StoredDraft;
  encrypted_review_notes: string | null;
  published_revision: number | null;
};

const reviewColumns = [
  "reviews.id",
  "reviews.app_id",
  "reviews.number",
  "reviews.vendor_id",
  "reviews.submitted_at",
  "reviews.due_at",
  "reviews.decision",
  "reviews.status",
  "reviews.decided_at",
  "reviews.replaced_number",
  "listings.slug",
  "vendors.slug as vendor",
  "revisions.name",
  "revisions.version",
] as const;

const joined = (database: Kysely<DB>) =>
  database
    .selectFrom("reviews")
    .innerJoin("revisions", (join) =>
      join.onRef("revisions.app_id", "=", "reviews.app_id").onRef("revisions.number", "=", "reviews.number"),
    )
    .innerJoin("listings", "listings.app_id", "reviews.app_id")
    .innerJoin("vendors", "vendors.id", "reviews.vendor_id");

/** Oldest first, without the drafts. */
export function findReviews(
  database: Kysely<DB>,
  { status, vendor }: { status: ReviewStatus; vendor?: string | undefined },
  { after, limit }: PageSlice,
): Promise<ReviewRow[]> {
  let query = joined(database).select(reviewColumns).where("reviews.status", "=", status);
  if (vendor !== undefined) query = query.where("vendors.slug", "=", vendor);
  if (after !== undefined) {
    query = query.where(
      sql<boolean>`(reviews.submitted_at, reviews.id) > (${after.at}::timestamptz, ${after.id}::uuid)`,
    );
  }
  return query.orderBy("reviews.submitted_at").orderBy("reviews.id").limit(limit).$castTo<ReviewRow>().execute();
}

export function findReview(database: Kysely<DB>, id: string): Promise<ReviewedRow | undefined> {
  return joined(database)
    .select([
      ...reviewColumns,
      "reviews.reasons",
      "revisions.id as revision_id",
      "revisions.draft",
      "revisions.encrypted_review_notes",
      "listings.published_revision",
    ])
    .where("reviews.id", "=", id)
    .$castTo<ReviewedRow>()
    .executeTakeFirst();
}

/** The listing of a review, to lock it before the review is read. */
export async function findReviewedSlug(database: Kysely<DB>, id: string): Promise<string | undefined> {
  const found = await database
    .selectFrom("reviews")
    .innerJoin("listings", "listings.app_id", "reviews.app_id")
    .select("listings.slug")
    .where("reviews.id", "=", id)
    .executeTakeFirst();
  return found?.slug;
}

/** Serialises the submissions of a vendor, so that their number is bounded. */
export async function lockSubmissions(transaction: Transaction<DB>, vendorId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`submissions of ${vendorId}`}, 0))`.execute(transaction);
}

export async function countOpenReviews(database: Kysely<DB>, vendorId: string): Promise<number> {
  const { count } = await database
    .selectFrom("reviews")
    .select(({ fn }) => fn.countAll<string>().as("count"))
    .where("vendor_id", "=", vendorId)
    .where("decision", "is", null)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** When the vendor submitted the last but `count - 1` time; undefined if it submitted fewer times. */
export async function findSubmissionTime(
  database: Kysely<DB>,
  vendorId: string,
  count: number,
): Promise<Date | undefined> {
  const found = await database
    .selectFrom("reviews")
    .select("submitted_at")
    .where("vendor_id", "=", vendorId)
    .orderBy("submitted_at", "desc")
    .orderBy("id", "desc")
    .offset(count - 1)
    .limit(1)
    .executeTakeFirst();
  return found?.submitted_at;
}

export async function nextRevisionNumber(transaction: Transaction<DB>, appId: string): Promise<number> {
  const found = await transaction
    .selectFrom("revisions")
    .select("number")
    .where("app_id", "=", appId)
    .orderBy("number", "desc")
    .limit(1)
    .executeTakeFirst();
  return (found?.number ?? 0) + 1;
}

/** Its editors are those who changed the draft since the public revision was submitted, and who submits it. */
export async function insertRevision(
  transaction: Transaction<DB>,
  revision: Insertable<Revisions>,
  submitter: { issuer: string; subject: string },
): Promise<void> {
  await transaction.insertInto("revisions").values(revision).execute();
  const { app_id, number } = revision;
  await sql`
    insert into revision_editors (app_id, number, issuer, subject)
    select app_id, ${number}::integer, issuer, subject from draft_editors
    where app_id = ${app_id} and version > coalesce((
      select revisions.listing_version from revisions
      join listings on listings.app_id = revisions.app_id and listings.published_revision = revisions.number
      where revisions.app_id = ${app_id}
    ), 0)
    union
    select ${app_id}::uuid, ${number}::integer, ${submitter.issuer}, ${submitter.subject}`.execute(transaction);
}

/** Keeps the files of a revision: from now on, they are used. Returns false if one of them is gone. */
export async function insertRevisionMedia(
  transaction: Transaction<DB>,
  { app_id, number }: { app_id: string; number: number },
  ids: string[],
): Promise<boolean> {
  // A job that deletes unused files sees the change of the row that it was going to mark.
  const { rows } = await sql`
    with locked as materialized (
      select id from media
      where app_id = ${app_id} and id = any (${ids}::uuid[]) and stored_at is not null and deleting_at is null
      order by id for update
    ), used as (
      update media set unused_since = null from locked where media.id = locked.id returning media.id
    )
    insert into revision_media (app_id, number, media_id) select ${app_id}::uuid, ${number}::integer, id from used
    returning media_id`.execute(transaction);
  return rows.length === ids.length;
}

export async function insertReview(transaction: Transaction<DB>, review: Insertable<Reviews>): Promise<void> {
  await transaction.insertInto("reviews").values(review).execute();
}

export async function isEditor(
  database: Kysely<DB>,
  { app_id, number }: Pick<ReviewRow, "app_id" | "number">,
  { issuer, subject }: { issuer: string; subject: string },
): Promise<boolean> {
  const found = await database
    .selectFrom("revision_editors")
    .select("number")
    .where("app_id", "=", app_id)
    .where("number", "=", number)
    .where("issuer", "=", issuer)
    .where("subject", "=", subject)
    .executeTakeFirst();
  return found !== undefined;
}

/** Ends an open review without publishing anything. */
export async function closeReview(
  transaction: Transaction<DB>,
  id: string,
  given: {
    decision: "rejected" | "withdrawn";
    at: Date;
    publishedRevision: number | null;
    reasons?: RejectionReason[];
  },
): Promise<void> {
  await transaction
    .updateTable("reviews")
    .set({
      decision: given.decision,
      decided_at: given.at,
      replaced_number: given.publishedRevision,
      reasons: JSON.stringify(given.reasons ?? []),
    })
    .where("id", "=", id)
    .execute();
}

/** Publishes the revision of an open review. The database refuses one who edited it. */
export async function approveInDatabase(
  transaction: Transaction<DB>,
  given: {
    id: string;
    by: { issuer: string; subject: string };
    at: Date;
    mediaUrl: string;
    planIds: string[];
    verifiedCertifications: number[];
  },
): Promise<void> {
  await sql`select approve_review(
    ${given.id}::uuid, ${given.by.issuer}, ${given.by.subject}, ${given.at}::timestamptz, ${given.mediaUrl},
    ${given.planIds}::uuid[], ${given.verifiedCertifications}::integer[]
  )`.execute(transaction);
}

export async function findRevisionDraft(
  database: Kysely<DB>,
  appId: string,
  number: number,
): Promise<StoredDraft | undefined> {
  const found = await database
    .selectFrom("revisions")
    .select("draft")
    .where("app_id", "=", appId)
    .where("number", "=", number)
    .$castTo<{ draft: StoredDraft }>()
    .executeTakeFirst();
  return found?.draft;
}

/** Open reviews, and those of them that are due before a time. */
export async function countReviews(database: Kysely<DB>, dueBefore: Date): Promise<{ open: number; dueSoon: number }> {
  const { rows } = await sql<{ open: number; dueSoon: number }>`
    select count(*)::integer as open, (count(*) filter (where due_at < ${dueBefore}))::integer as "dueSoon"
    from reviews where decision is null`.execute(database);
  return rows[0] ?? { open: 0, dueSoon: 0 };
}

/** Removes certifications that have ended from the public listings. Returns the number of apps. */
export async function endCertificationsOf(database: Kysely<DB>, maxApps: number): Promise<number> {
  const { rows } = await sql<{ ended: number }>`select end_certifications(${maxApps}) as ended`.execute(database);
  return rows[0]?.ended ?? 0;
}

/** Those that are published; undefined before the first approval. */
export async function findAppScopes(database: Kysely<DB>, appId: string): Promise<string | undefined> {
  const found = await database.selectFrom("apps").select("fhir_scopes").where("id", "=", appId).executeTakeFirst();
  return found?.fhir_scopes;
}

export interface DueReview {
  id: string;
  slug: string;
  name: string;
  number: number;
  due_at: Date;
}

/** Open reviews that are due in this time and whose operators have no notice of this stage. */
export async function findUnnoticedReviews(
  database: Kysely<DB>,
  { stage, from, to }: { stage: string; from: Date; to: Date },
  limit: number,
): Promise<DueReview[]> {
  const { rows } = await sql<DueReview>`
    select reviews.id, listings.slug, revisions.name, reviews.number, reviews.due_at from reviews
    join revisions on revisions.app_id = reviews.app_id and revisions.number = reviews.number
    join listings on listings.app_id = reviews.app_id
    where reviews.decision is null and reviews.due_at >= ${from} and reviews.due_at < ${to}
      and not exists (
        select from notices where notices.audience = 'operators' and notices.key = ${stage} || ':' || reviews.id
      )
    order by reviews.due_at limit ${limit}`.execute(database);
  return rows;
}

const maxSimilarNames = 10;

/** Other vendors, and apps of theirs, whose names look like this one. The index on `name_skeleton` keeps it from reading all names. */
export async function findSimilarNames(
  database: Kysely<DB>,
  { name, vendor_id }: Pick<ReviewRow, "name" | "vendor_id">,
): Promise<SimilarName[]> {
  const { rows } = await sql<SimilarName>`
    (select 'app' as kind, slug, name from apps
     where name_skeleton(name) = name_skeleton(${name}) and name_skeleton(${name}) <> '' and sandbox_of is null and vendor_id <> ${vendor_id}
     order by slug limit ${maxSimilarNames})
    union all
    (select 'vendor', slug, name from vendors
     where name_skeleton(name) = name_skeleton(${name}) and name_skeleton(${name}) <> '' and id <> ${vendor_id}
     order by slug limit ${maxSimilarNames})`.execute(database);
  return rows;
}
