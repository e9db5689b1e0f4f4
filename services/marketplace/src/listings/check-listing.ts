import type { ListingCheck, ListingDraft } from "@ehr-marketplace/contracts";
import { checkDraft } from "@ehr-marketplace/listing-rules";
import type { Kysely } from "kysely";
import type { VendorContext } from "../access/vendor-context.ts";
import { findCdsDiscovery } from "../cds-hooks/discover-hooks.ts";
import type { DB } from "../database-schema.ts";
import { findKnownMedia } from "../media/read-media.ts";
import type { ListingDeps } from "./create-listing.ts";
import {
  findListing,
  findPlansOnSale,
  findVocabulary,
  type ListingRow,
  wasLaunchedInSandbox,
} from "./listing-store.ts";
import { decryptDraft, listingNotFound } from "./read-listings.ts";

/** Every problem of the draft at once. It fetches nothing from the vendor, and decodes no media. */
export async function checkListing(
  { database, encryption, clock, allowsHttp, usageLimits }: ListingDeps,
  by: VendorContext,
  slug: string,
): Promise<ListingCheck> {
  const row = await findListing(database, by.vendor, slug);
  if (row === undefined) throw listingNotFound();
  return checkStoredDraft(database, row, decryptDraft(encryption, row), { now: clock(), allowsHttp, usageLimits });
}

/** Checks a draft, or a revision of it, against what is known now. */
export async function checkStoredDraft(
  database: Kysely<DB>,
  { app_id }: Pick<ListingRow, "app_id">,
  draft: ListingDraft,
  { now, allowsHttp, usageLimits }: Pick<ListingDeps, "allowsHttp" | "usageLimits"> & { now: Date },
): Promise<ListingCheck> {
  const { categories, extensionPoints } = await findVocabulary(database);
  const media = await findKnownMedia(database, app_id);
  return checkDraft(draft, {
    categories: new Set(categories),
    extensionPoints: new Set(extensionPoints),
    findMedia: (id) => media.get(id.toLowerCase()),
    launchedInSandbox: await wasLaunchedInSandbox(database, app_id),
    cdsDiscovery: await findCdsDiscovery(database, app_id),
    knownPlans: await findPlansOnSale(database, app_id),
    usageCurrencies: new Set(usageLimits.keys()),
    allowsHttp,
    today: now.toISOString().slice(0, 10),
  });
}
