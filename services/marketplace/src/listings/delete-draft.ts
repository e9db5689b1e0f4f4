import { Problem } from "@ehr-marketplace/service-kit/http";
import { onBehalfOf, type VendorContext } from "../access/vendor-context.ts";
import { recordAudit } from "../audit/record-audit.ts";
import { nextInstant } from "../events/event.ts";
import type { ListingDeps } from "./create-listing.ts";
import { listingProblems } from "./listing-errors.ts";
import { requireAllowed } from "./listing-state.ts";
import { deleteListing, findSandboxesWith } from "./listing-store.ts";
import { factsOf, requireLockedListing } from "./read-listings.ts";

/** Deletes a listing that was never submitted, with its files. Its slug is free again, unless an EHR knows it. */
export function deleteDraft(
  { database, clock }: Pick<ListingDeps, "database" | "clock">,
  by: VendorContext,
  slug: string,
): Promise<void> {
  return database.transaction().execute(async (transaction) => {
    // Submissions and installations lock it, too.
    const row = await requireLockedListing(transaction, by, slug);
    requireAllowed(factsOf(row), "delete");
    const sandboxes = await findSandboxesWith(transaction, row.app_id);
    if (sandboxes.length > 0) {
      const detail = `The draft is installed in ${sandboxes.join(", ")}. End each installation with DELETE /developer/apps/${slug}/test-subscriptions/{orgAlias}, then delete the draft.`;
      throw new Problem(listingProblems.installed, detail);
    }
    const at = nextInstant(clock(), row.updated_at);
    await deleteListing(transaction, row.app_id, at);
    await recordAudit(transaction, {
      by,
      role: by.role,
      at,
      onBehalfOf: onBehalfOf(by),
      action: "listing.delete",
      target: { kind: "listing", id: slug },
      before: { name: row.draft.name ?? null, version: row.version },
      after: null,
    });
  });
}
