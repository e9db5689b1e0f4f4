import type { PageQuery, RevisionDto, RevisionPage, RevisionSummary } from "@ehr-marketplace/contracts";
import { decodeCursor, encodeCursor, invalidCursor, Problem } from "@ehr-marketplace/service-kit/http";
import type { Kysely } from "kysely";
import type { VendorContext } from "../access/vendor-context.ts";
import type { DB } from "../database-schema.ts";
import type { ListingDeps } from "../listings/create-listing.ts";
import { addReviewNotes, requireListing } from "../listings/read-listings.ts";
import { reviewProblems } from "./review-errors.ts";
import { findRevision, findRevisions, type RevisionRow } from "./revision-store.ts";

export const revisionNotesOwner = (id: string): string => `revisions/${id}/review-notes`;

const maxNumber = 2_147_483_647;
const maxItems = 100;

const summaryOf = (row: RevisionRow): RevisionSummary => ({
  revision: row.number,
  name: row.name,
  version: row.version,
  status: row.status,
  isPublic: row.is_public,
  submittedAt: row.submitted_at.toISOString(),
  decidedAt: row.decided_at?.toISOString() ?? null,
});

/** The number of the last revision on the previous page. */
export function parseRevisionCursor(cursor: string | undefined): number {
  if (cursor === undefined) return maxNumber;
  const [number = ""] = decodeCursor(cursor, 1);
  if (!/^[1-9]\d{0,9}$/.test(number) || Number(number) > maxNumber) throw invalidCursor();
  return Number(number);
}

/** Newest first. */
export async function listRevisions(
  database: Kysely<DB>,
  by: VendorContext,
  slug: string,
  query: PageQuery,
): Promise<RevisionPage> {
  await requireListing(database, by, slug);
  const before = parseRevisionCursor(query.after);
  const limit = Math.min(query.limit, maxItems);
  const found = await findRevisions(database, { vendor: by.vendor, slug }, { before, limit: limit + 1 });
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const next = found.length > limit && last !== undefined ? encodeCursor(String(last.number)) : null;
  return { items: rows.map(summaryOf), next };
}

export async function getRevision(
  { database, encryption }: ListingDeps,
  { vendor }: VendorContext,
  { slug, revision }: { slug: string; revision: string },
): Promise<RevisionDto> {
  const row = await findRevision(database, { vendor, slug, number: Number(revision) });
  if (row === undefined) {
    throw new Problem(reviewProblems.revisionNotFound, "The vendor has no listing with that slug and revision.");
  }
  return {
    ...summaryOf(row),
    reasons: row.reasons ?? [],
    draft: addReviewNotes(encryption, row, revisionNotesOwner(row.id)),
  };
}
