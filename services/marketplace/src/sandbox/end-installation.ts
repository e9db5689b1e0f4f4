import type { SubscriptionDto } from "@ehr-marketplace/contracts";
import { Problem } from "@ehr-marketplace/service-kit/http";
import type { VendorContext } from "../access/vendor-context.ts";
import { requireLockedListing } from "../listings/read-listings.ts";
import { endSandboxSubscription } from "../subscriptions/end-sandbox-subscription.ts";
import type { SandboxDeps } from "./install-draft.ts";
import { requireSandboxOf } from "./require-sandbox.ts";
import { sandboxProblems } from "./sandbox-errors.ts";
import { findInstallation } from "./sandbox-store.ts";

/** Takes the draft of a listing out of a sandbox organisation. What has ended stays as it is, so that it can be repeated. */
export function endInstallation(
  { database, clock, queue }: Pick<SandboxDeps, "database" | "clock" | "queue">,
  by: VendorContext,
  { slug, orgAlias }: { slug: string; orgAlias: string },
): Promise<SubscriptionDto> {
  const now = clock();
  return database.transaction().execute(async (transaction) => {
    // As an installation does: one of the two waits for the other.
    const listing = await requireLockedListing(transaction, by, slug);
    const organisationId = await requireSandboxOf(transaction, by, listing.vendor_id, orgAlias);
    const id = await findInstallation(transaction, { listingId: listing.app_id, organisationId });
    if (id === undefined) {
      throw new Problem(sandboxProblems.notInstalled, `The draft was never installed in ${JSON.stringify(orgAlias)}.`);
    }
    return endSandboxSubscription(transaction, queue, { by, id, now });
  });
}
