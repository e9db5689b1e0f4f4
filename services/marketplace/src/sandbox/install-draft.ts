import type { InstallDraftBody, ListingCheck, SubscriptionDto } from "@ehr-marketplace/contracts";
import { Problem } from "@ehr-marketplace/service-kit/http";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { KeyedDigest } from "@ehr-marketplace/service-kit/secrets";
import type { Transaction } from "kysely";
import { v7 as uuid } from "uuid";
import type { VendorContext } from "../access/vendor-context.ts";
import type { UsageLimits } from "../billing/usage-limits.ts";
import { getPlan } from "../catalog/find-offer.ts";
import { type DiscoveryDeps, discoverHooks } from "../cds-hooks/discover-hooks.ts";
import type { DB } from "../database-schema.ts";
import { claimKey, type IdempotentRequest } from "../idempotency/run-idempotently.ts";
import { checkStoredDraft } from "../listings/check-listing.ts";
import { type ListingRow, requireLockedListing } from "../listings/read-listings.ts";
import { sandboxIconPath } from "../media/sandbox-icon.ts";
import { reviewProblems } from "../reviews/review-errors.ts";
import { installSandboxApp } from "../subscriptions/install-sandbox-app.ts";
import { requireSandboxOf } from "./require-sandbox.ts";
import { sandboxProblems } from "./sandbox-errors.ts";
import { findInstalledDrafts, installDraft, lockInstalledDrafts } from "./sandbox-store.ts";

export interface SandboxDeps extends DiscoveryDeps {
  queue: Queue;
  bodyDigest: KeyedDigest;
  publicUrl: string;
  allowsHttp: boolean;
  usageLimits: UsageLimits;
}

const maxInstalledDrafts = 20;

/** The fields of a draft that an EHR uses. "" is the draft as a whole. */
const installedFields = new Set([
  "",
  "name",
  "category",
  "extensionPoints",
  "smartLaunchUrl",
  "fhirScopes",
  "configSchema",
  "cdsServicesUrl",
  "oauth",
]);

/** A vendor tries its app early: errors in what nobody uses in a sandbox don't matter. */
function findInstallErrors({ errors, problems }: ListingCheck): ListingCheck["problems"] {
  const listed = problems.filter(({ severity }) => severity === "error");
  // Not all are listed, and one of the others may be in a field that is used.
  if (listed.length < errors) return listed;
  return listed.filter(({ pointer }) => installedFields.has(pointer.split("/")[1] ?? ""));
}

interface InstalledDraft {
  created: boolean;
  subscription: SubscriptionDto;
}

/** Installs the draft of a listing in a sandbox organisation, or updates it there, and reads the CDS Hooks services that it names. */
export async function installDraftInSandbox(
  deps: SandboxDeps,
  by: VendorContext,
  input: InstallDraftBody & { slug: string },
  idempotentRequest: IdempotentRequest,
): Promise<InstalledDraft> {
  const { listing, ...installed } = await install(deps, by, input, idempotentRequest);
  await discoverHooks(deps, { appId: listing.app_id, draft: listing.draft });
  return installed;
}

function install(
  { database, clock, queue, bodyDigest, publicUrl, allowsHttp, usageLimits }: SandboxDeps,
  by: VendorContext,
  { slug, orgAlias }: InstallDraftBody & { slug: string },
  idempotentRequest: IdempotentRequest,
): Promise<InstalledDraft & { listing: ListingRow }> {
  const now = clock();
  return database.transaction().execute(async (transaction) => {
    const runOnce = await claimKey(transaction, { caller: by.caller, now, bodyDigest }, idempotentRequest);
    const listing = await requireLockedListing(transaction, by, slug);
    const organisationId = await requireSandboxOf(transaction, by, listing.vendor_id, orgAlias);
    const { created, state } = await runOnce(async () => {
      const errors = findInstallErrors(
        await checkStoredDraft(transaction, listing, listing.draft, { now, allowsHttp, usageLimits }),
      );
      if (errors.length > 0) {
        const detail = `The draft has ${errors.length} error${errors.length === 1 ? "" : "s"} in what an installation uses.`;
        throw new Problem(reviewProblems.draftHasErrors, detail, { errors });
      }
      await requireFewDrafts(transaction, listing);
      const appId = await installDraft(transaction, {
        listingId: listing.app_id,
        organisationId,
        at: now,
        iconUrl: `${publicUrl}${sandboxIconPath}`,
        newAppId: uuid(),
        newPlanId: uuid(),
      });
      const organisation = { id: organisationId, alias: orgAlias };
      return installSandboxApp(transaction, queue, { by, appId, organisation, now });
    });
    const pricingPlan = await getPlan(transaction, state.pricingPlanId);
    return { created, subscription: { ...state, pricingPlan }, listing };
  });
}

/** Each draft that is installed is a client at the authorization server of an EHR. One that is installed already adds none. */
async function requireFewDrafts(transaction: Transaction<DB>, listing: ListingRow): Promise<void> {
  await lockInstalledDrafts(transaction, listing.vendor_id);
  const installed = await findInstalledDrafts(transaction, listing.vendor_id);
  if (installed.includes(listing.app_id) || installed.length < maxInstalledDrafts) return;
  const detail = `The vendor has ${installed.length} drafts in sandbox organisations; ${maxInstalledDrafts} are allowed. End the installations of one that you no longer try.`;
  throw new Problem(sandboxProblems.tooManyDrafts, detail);
}
