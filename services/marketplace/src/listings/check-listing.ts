import type { ListingCheck } from "@ehr-marketplace/contracts";
import { checkDraft } from "@ehr-marketplace/listing-rules";
import type { VendorContext } from "../access/vendor-context.ts";
import { findKnownMedia } from "../media/read-media.ts";
import type { ListingDeps } from "./create-listing.ts";
import { findListing, findVocabulary } from "./listing-store.ts";
import { decryptDraft, listingNotFound } from "./read-listings.ts";

/** Every problem of the draft at once. It fetches nothing from the vendor, and decodes no media. */
export async function checkListing(
  { database, encryption, clock }: ListingDeps,
  by: VendorContext,
  slug: string,
): Promise<ListingCheck> {
  const row = await findListing(database, by.vendor, slug);
  if (row === undefined) throw listingNotFound();
  const { categories, extensionPoints } = await findVocabulary(database);
  const media = await findKnownMedia(database, row.app_id);
  return checkDraft(decryptDraft(encryption, row), {
    categories: new Set(categories),
    extensionPoints: new Set(extensionPoints),
    findMedia: (id) => media.get(id.toLowerCase()),
    launchedInSandbox: false,
    today: clock().toISOString().slice(0, 10),
  });
}
