import type { CreateListingBody } from "@ehr-marketplace/contracts";
import { Problem } from "@ehr-marketplace/service-kit/http";
import type { Encryption } from "@ehr-marketplace/service-kit/secrets";
import type { Kysely } from "kysely";
import { v7 as uuid } from "uuid";
import { onBehalfOf, type VendorContext } from "../access/vendor-context.ts";
import { recordAudit } from "../audit/record-audit.ts";
import type { UsageLimits } from "../billing/usage-limits.ts";
import type { DB } from "../database-schema.ts";
import { requireVendorId } from "../vendors/read-vendors.ts";
import { listingProblems } from "./listing-errors.ts";
import {
  countListings,
  findListingIds,
  insertListing,
  lockCreation,
  neverSubmitted,
  recordEditor,
} from "./listing-store.ts";
import { type TaggedListing, tagListing } from "./read-listings.ts";

export interface ListingDeps {
  database: Kysely<DB>;
  encryption: Encryption;
  clock: () => Date;
  /** Whether the URLs of apps may be http on a loopback address. */
  allowsHttp: boolean;
  usageLimits: UsageLimits;
}

const maxListingsPerVendor = 1_000;

/** Begins a listing: reserves its slug, with a draft that has a name only. */
export function createListing(
  { database, encryption, clock }: ListingDeps,
  by: VendorContext,
  { slug, name }: CreateListingBody,
): Promise<TaggedListing> {
  return database.transaction().execute(async (transaction) => {
    const vendorId = await requireVendorId(transaction, by.vendor);
    await lockCreation(transaction, vendorId);
    if ((await countListings(transaction, vendorId)) >= maxListingsPerVendor) {
      throw new Problem(listingProblems.tooMany, `The vendor already has ${maxListingsPerVendor} listings.`);
    }
    const now = clock();
    const row = {
      app_id: uuid(),
      slug,
      vendor_id: vendorId,
      draft: { name },
      encrypted_review_notes: null,
      version: 1,
      created_at: now,
      updated_at: now,
    };
    if (!(await insertListing(transaction, { ...row, draft: JSON.stringify(row.draft) }))) {
      const isOwn = (await findListingIds(transaction, by.vendor, slug)) !== undefined;
      const detail = isOwn
        ? `The vendor has this listing already: GET /developer/apps/${slug} returns it.`
        : `Another app has, or had, the slug ${slug}.`;
      throw new Problem(listingProblems.slugTaken, detail);
    }
    const { issuer, subject } = by.caller;
    await recordEditor(transaction, { app_id: row.app_id, issuer, subject, version: row.version });
    await recordAudit(transaction, {
      by,
      role: by.role,
      at: now,
      onBehalfOf: onBehalfOf(by),
      action: "listing.create",
      target: { kind: "listing", id: slug },
      before: null,
      after: { name },
    });
    return tagListing(encryption, {
      ...row,
      ...neverSubmitted,
      published_revision: null,
      unpublished_at: null,
      suspended_at: null,
      suspension_reason: null,
      republished_at: null,
      sandbox_launched_at: null,
    });
  });
}
