import type { ListReviewsQuery, ReviewDto, ReviewPage, ReviewSummary } from "@ehr-marketplace/contracts";
import { compareDrafts } from "@ehr-marketplace/listing-rules";
import { listPage, Problem } from "@ehr-marketplace/service-kit/http";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { checkStoredDraft } from "../listings/check-listing.ts";
import type { ListingDeps } from "../listings/create-listing.ts";
import { addReviewNotes } from "../listings/read-listings.ts";
import { revisionNotesOwner } from "./read-revisions.ts";
import { reviewProblems } from "./review-errors.ts";
import { findReview, findReviews, findRevisionDraft, findSimilarNames, type ReviewRow } from "./review-store.ts";

const summaryOf = (row: ReviewRow): ReviewSummary => ({
  id: row.id,
  slug: row.slug,
  name: row.name,
  vendor: row.vendor,
  revision: row.number,
  version: row.version,
  status: row.status,
  submittedAt: row.submitted_at.toISOString(),
  dueAt: row.due_at.toISOString(),
  decidedAt: row.decided_at?.toISOString() ?? null,
});

export const reviewNotFound = (): Problem => new Problem(reviewProblems.notFound, "No review has that id.");

/** Oldest first. */
export function listReviews(database: Kysely<DB>, query: ListReviewsQuery): Promise<ReviewPage> {
  return listPage(query, {
    find: (slice) => findReviews(database, query, slice),
    getTime: (row) => row.submitted_at,
    toItem: summaryOf,
  });
}

/** With the differences to the revision that is public, or was when the review was decided. Notes are shown while it is open. */
export async function getReview(
  { database, encryption, clock, allowsHttp, usageLimits }: ListingDeps,
  id: string,
): Promise<ReviewDto> {
  const row = await findReview(database, id);
  if (row === undefined) throw reviewNotFound();
  const comparedWith = row.decision === null ? row.published_revision : row.replaced_number;
  const before = comparedWith === null ? undefined : await findRevisionDraft(database, row.app_id, comparedWith);
  const { differences, truncated } = compareDrafts(before ?? null, row.draft);
  return {
    ...summaryOf(row),
    reasons: row.reasons,
    draft: row.decision === null ? addReviewNotes(encryption, row, revisionNotesOwner(row.revision_id)) : row.draft,
    comparedWith,
    differences,
    truncated,
    similarNames: await findSimilarNames(database, row),
    check: await checkStoredDraft(database, row, row.draft, { now: clock(), allowsHttp, usageLimits }),
  };
}
