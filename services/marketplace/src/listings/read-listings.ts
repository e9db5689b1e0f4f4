import type { ListingDraft, ListingDto, ListingPage, PageQuery } from "@ehr-marketplace/contracts";
import { listPage, Problem } from "@ehr-marketplace/service-kit/http";
import type { Encryption } from "@ehr-marketplace/service-kit/secrets";
import type { Kysely } from "kysely";
import type { VendorContext } from "../access/vendor-context.ts";
import type { DB } from "../database-schema.ts";
import { listingProblems } from "./listing-errors.ts";
import { findListing, findListingIds, findListings, type ListingRow } from "./listing-store.ts";

export const reviewNotesOwner = (appId: string): string => `listings/${appId}/review-notes`;

/** The draft as its vendor sees it, with the review notes, which are stored encrypted beside it. */
export function decryptDraft(encryption: Encryption, row: ListingRow): ListingDraft {
  if (row.encrypted_review_notes === null) return row.draft;
  return { ...row.draft, reviewNotes: encryption.decrypt(row.encrypted_review_notes, reviewNotesOwner(row.app_id)) };
}

export const etagOf = ({ version }: Pick<ListingRow, "version">): string => `"${version}"`;

const statusOf = (row: Pick<ListingRow, "slug" | "created_at" | "updated_at">) => ({
  slug: row.slug,
  status: "draft" as const,
  publishedRevision: null,
  review: null,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

export interface TaggedListing {
  etag: string;
  listing: ListingDto;
}

export function tagListing(encryption: Encryption, row: ListingRow): TaggedListing {
  return { etag: etagOf(row), listing: { ...statusOf(row), draft: decryptDraft(encryption, row) } };
}

export function listingNotFound(): Problem {
  return new Problem(listingProblems.notFound, "The vendor has no listing with that slug.");
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
    toItem: (row) => ({ ...statusOf(row), name: row.name }),
  });
}
