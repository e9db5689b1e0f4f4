import { rateLimitProblem } from "@ehr-marketplace/service-kit/http";
import type { Role } from "@ehr-marketplace/service-kit/tokens";
import type { Kysely, Transaction } from "kysely";
import type { RequestContext } from "../access/request-context.ts";
import { onBehalfOf, type VendorContext } from "../access/vendor-context.ts";
import { type NewAuditEntry, recordAudit } from "../audit/record-audit.ts";
import type { DB } from "../database-schema.ts";
import { nextInstant } from "../events/event.ts";
import type { ListingDeps } from "./create-listing.ts";
import { listingProblems } from "./listing-errors.ts";
import { type ListingCommand, type ListingFacts, requireAllowed } from "./listing-state.ts";
import {
  findListing,
  type ListingChanges,
  type ListingRow,
  lockAnyListing,
  lockListing,
  updateListing,
} from "./listing-store.ts";
import { appNotListed, factsOf, listingNotFound, type TaggedListing, tagListing } from "./read-listings.ts";

const minMsUntilUnpublish = 10_000;

export interface ListingChange {
  command: ListingCommand;
  /** What the command depends on, if it isn't the listing as it is. */
  facts?: (transaction: Transaction<DB>, row: ListingRow) => Promise<ListingFacts>;
  /** Returns undefined if there is nothing to change. */
  apply: (transaction: Transaction<DB>, row: ListingRow, at: Date) => Promise<AppliedChange | undefined>;
}

export interface AppliedChange {
  /** Changes of the listing's own row. Every change gives it a new version. */
  changes?: ListingChanges;
  audit: Pick<NewAuditEntry, "action" | "target" | "before" | "after">;
}

interface Author {
  by: RequestContext;
  role: Role;
  onBehalfOf: string;
  clock: () => Date;
}

/** Applies a change to a listing that the transaction has locked. */
async function applyChange(
  transaction: Transaction<DB>,
  row: ListingRow,
  { command, facts, apply }: ListingChange,
  { clock, ...author }: Author,
): Promise<void> {
  requireAllowed(facts === undefined ? factsOf(row) : await facts(transaction, row), command);
  const at = nextInstant(clock(), row.updated_at);
  const applied = await apply(transaction, row, at);
  if (applied === undefined) return;
  const { changes, audit } = applied;
  await updateListing(transaction, row.app_id, { ...changes, version: row.version + 1, updated_at: at });
  await recordAudit(transaction, { ...author, at, ...audit });
}

/** Changes the state of a vendor's listing in one transaction, which locks the listing first. */
export async function changeListing(
  { database, encryption, clock }: ListingDeps,
  by: VendorContext,
  slug: string,
  change: ListingChange,
): Promise<TaggedListing> {
  await database.transaction().execute(async (transaction) => {
    const row = await lockListing(transaction, by.vendor, slug);
    if (row === undefined) throw listingNotFound();
    await applyChange(transaction, row, change, { by, role: by.role, onBehalfOf: onBehalfOf(by), clock });
  });
  const changed = await findListing(database, by.vendor, slug);
  if (changed === undefined) throw listingNotFound();
  return tagListing(encryption, changed);
}

/** The same for operators, who change listings of any vendor. */
export async function changeAnyListing(
  { database, clock }: { database: Kysely<DB>; clock: () => Date },
  by: RequestContext,
  slug: string,
  change: ListingChange,
): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    const row = await lockAnyListing(transaction, slug);
    if (row === undefined) throw appNotListed();
    await applyChange(transaction, row, change, { by, role: "operator", onBehalfOf: `vendor:${row.vendor}`, clock });
  });
}

/** The audit entry of a vendor's change. */
export const listingAudit = (row: ListingRow, command: ListingCommand, after: object = {}): AppliedChange["audit"] => ({
  action: `listing.${command}`,
  target: { kind: "listing", id: row.slug },
  before: { version: row.version },
  after: { version: row.version + 1, ...after },
});

/** Takes the app out of the catalog. Its subscribers keep it. */
export const unpublishListing = (deps: ListingDeps, by: VendorContext, slug: string): Promise<TaggedListing> =>
  changeListing(deps, by, slug, {
    command: "unpublish",
    apply(_transaction, row, at) {
      requireSomeTimeSince(row.republished_at, at);
      return Promise.resolve({ changes: { unpublished_at: at }, audit: listingAudit(row, "unpublish") });
    },
  });

/** Puts the published revision back into the catalog. */
export const republishListing = (deps: ListingDeps, by: VendorContext, slug: string): Promise<TaggedListing> =>
  changeListing(deps, by, slug, {
    command: "republish",
    apply: (_transaction, row, at) =>
      Promise.resolve({ changes: { unpublished_at: null, republished_at: at }, audit: listingAudit(row, "republish") }),
  });

/** Every change is seen by all readers of the catalog: a vendor can't make it flicker. Undoing is always possible. */
function requireSomeTimeSince(republished: Date | null, now: Date): void {
  const retryAfterMs = republished === null ? 0 : republished.getTime() + minMsUntilUnpublish - now.getTime();
  if (retryAfterMs <= 0) return;
  const detail = "The app was republished within the last 10 seconds.";
  throw rateLimitProblem(listingProblems.unpublishedTooOften, detail, { limit: 6, retryAfterMs });
}
