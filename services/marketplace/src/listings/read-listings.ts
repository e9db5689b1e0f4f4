import type { ListingDraft, ListingDto, ListingPage, ListingSummary, PageQuery } from "@ehr-marketplace/contracts";
import { listPage, Problem } from "@ehr-marketplace/service-kit/http";
import type { Encryption } from "@ehr-marketplace/service-kit/secrets";
import type { Kysely, Transaction } from "kysely";
import type { VendorContext } from "../access/vendor-context.ts";
import type { DB } from "../database-schema.ts";
import { listingProblems } from "./listing-errors.ts";
import { type ListingFacts, listingStatus } from "./listing-state.ts";
import {
  findListing,
  findListingIds,
  findListings,
  keepListing,
  type LastReview,
  type ListingRow,
  lockListing,
} from "./listing-store.ts";

export type { ListingRow, StoredDraft } from "./listing-store.ts";

export const reviewNotesOwner = (appId: string): string => `listings/${appId}/review-notes`;

/** The draft as its vendor sees it, with the review notes, which are stored encrypted beside it. */
export const decryptDraft = (encryption: Encryption, row: ListingRow): ListingDraft =>
  addReviewNotes(encryption, row, reviewNotesOwner(row.app_id));

/** The same for what is stored for another owner, such as a revision. */
export function addReviewNotes(
  encryption: Encryption,
  { draft, encrypted_review_notes: notes }: Pick<ListingRow, "draft" | "encrypted_review_notes">,
  owner: string,
): ListingDraft {
  return notes === null ? draft : { ...draft, reviewNotes: encryption.decrypt(notes, owner) };
}

export const etagOf = ({ version }: Pick<ListingRow, "version">): string => `"${version}"`;

/** What the state of a listing depends on. */
export const factsOf = (row: Omit<ListingRow, "draft" | "encrypted_review_notes">): ListingFacts => ({
  publishedRevision: row.published_revision,
  review: row.review_status,
  isUnpublished: row.unpublished_at !== null,
  isSuspended: row.suspended_at !== null,
});

const stateOf = (row: Omit<ListingRow, "draft" | "encrypted_review_notes">) => ({
  slug: row.slug,
  status: listingStatus(factsOf(row)),
  publishedRevision: row.published_revision,
  isUnpublished: row.unpublished_at !== null,
  review: reviewOf(row),
  suspension: plainSuspensionOf(row),
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

export const plainSuspensionOf = (
  row: Pick<ListingRow, "suspended_at" | "suspension_reason">,
): ListingSummary["suspension"] =>
  row.suspended_at === null ? null : { since: row.suspended_at.toISOString(), reason: row.suspension_reason ?? "" };

function reviewOf(row: LastReview): ListingSummary["review"] {
  const { review_id: id, review_status: status, review_submitted_at: submittedAt, review_due_at: dueAt } = row;
  if (id === null || submittedAt === null || dueAt === null) return null;
  if (status === "approved" || status === "withdrawn") return null;
  return {
    id,
    submittedAt: submittedAt.toISOString(),
    dueAt: dueAt.toISOString(),
    reasons: row.review_reasons ?? [],
  };
}

export interface TaggedListing {
  etag: string;
  listing: ListingDto;
}

export function tagListing(encryption: Encryption, row: ListingRow): TaggedListing {
  return { etag: etagOf(row), listing: { ...stateOf(row), draft: decryptDraft(encryption, row) } };
}

export function listingNotFound(): Problem {
  return new Problem(listingProblems.notFound, "The vendor has no listing with that slug.");
}

export const appNotListed = (): Problem =>
  new Problem(listingProblems.unknownApp, "No vendor has a listing with that slug.");

/** Locks the listing until the transaction ends, so that its draft stays as it is. */
export async function requireLockedListing(
  transaction: Transaction<DB>,
  by: VendorContext,
  slug: string,
): Promise<ListingRow> {
  const row = await lockListing(transaction, by.vendor, slug);
  if (row === undefined) throw listingNotFound();
  return row;
}

/** For the use cases of what belongs to a listing. */
export async function requireListing(
  database: Kysely<DB>,
  by: VendorContext,
  slug: string,
): Promise<{ appId: string; vendorId: string }> {
  const ids = await findListingIds(database, by.vendor, slug);
  if (ids === undefined) throw listingNotFound();
  return { appId: ids.app_id, vendorId: ids.vendor_id };
}

/** Keeps the listing until the transaction ends: what is added to it is deleted with it. */
export async function requireKeptListing(transaction: Transaction<DB>, appId: string): Promise<void> {
  if (!(await keepListing(transaction, appId))) throw listingNotFound();
}

export async function getListing(
  { database, encryption }: { database: Kysely<DB>; encryption: Encryption },
  by: VendorContext,
  slug: string,
): Promise<TaggedListing> {
  const row = await findListing(database, by.vendor, slug);
  if (row === undefined) throw listingNotFound();
  return tagListing(encryption, row);
}

export function listListings(database: Kysely<DB>, by: VendorContext, query: PageQuery): Promise<ListingPage> {
  return listPage(query, {
    find: (slice) => findListings(database, by.vendor, slice),
    getTime: (row) => row.created_at,
    toItem: (row) => ({ ...stateOf(row), name: row.name }),
    // The name is in the draft, which may have 256 KiB.
    maxItems: 100,
  });
}
