import { isDeepStrictEqual } from "node:util";
import { type ListingDraft, listingDraft } from "@ehr-marketplace/contracts";
import { createBodyValidator, invalidRequest, isMatch, Problem } from "@ehr-marketplace/service-kit/http";
import { onBehalfOf, type VendorContext } from "../access/vendor-context.ts";
import { recordAudit } from "../audit/record-audit.ts";
import { nextInstant } from "../events/event.ts";
import type { ListingDeps } from "./create-listing.ts";
import { listingProblems } from "./listing-errors.ts";
import { lockListing, recordEditor, updateDraft } from "./listing-store.ts";
import { mergePatch } from "./merge-patch.ts";
import {
  decryptDraft,
  etagOf,
  listingNotFound,
  reviewNotesOwner,
  type TaggedListing,
  tagListing,
} from "./read-listings.ts";

/** Of a draft as it is stored. The largest that the schema allows, with texts in any language, is smaller. */
export const maxDraftBytes = 256 * 1_024;

const validate = createBodyValidator(listingDraft);

/** Applies a merge patch to the draft, if it is the version that the caller has read. */
export function editDraft(
  { database, encryption, clock }: ListingDeps,
  by: VendorContext,
  { slug, patch, ifMatch }: { slug: string; patch: object; ifMatch: string },
): Promise<TaggedListing> {
  return database.transaction().execute(async (transaction) => {
    const row = await lockListing(transaction, by.vendor, slug);
    if (row === undefined) throw listingNotFound();
    if (!isMatch(ifMatch, etagOf(row))) {
      throw new Problem(listingProblems.changed, `The listing's ETag is ${etagOf(row)}; If-Match has another one.`);
    }
    const before = decryptDraft(encryption, row);
    const after = parseDraft(mergePatch(before, patch));
    const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
      (name) => !isDeepStrictEqual(before[name as keyof ListingDraft], after[name as keyof ListingDraft]),
    );
    if (changed.length === 0) return tagListing(encryption, row);

    const { reviewNotes, ...draft } = after;
    const edited = {
      ...row,
      draft,
      encrypted_review_notes:
        reviewNotes === undefined ? null : encryption.encrypt(reviewNotes, reviewNotesOwner(row.app_id)),
      version: row.version + 1,
      updated_at: nextInstant(clock(), row.updated_at),
    };
    await updateDraft(transaction, edited);
    const { issuer, subject } = by.caller;
    await recordEditor(transaction, { app_id: row.app_id, issuer, subject, version: edited.version });
    await recordAudit(transaction, {
      by,
      role: by.role,
      at: edited.updated_at,
      onBehalfOf: onBehalfOf(by),
      action: "listing.edit",
      target: { kind: "listing", id: slug },
      before: { version: row.version },
      after: { version: edited.version, changed },
    });
    return tagListing(encryption, edited);
  });
}

function parseDraft(value: unknown): ListingDraft {
  const draft = validate(value);
  if (Buffer.byteLength(JSON.stringify(draft)) > maxDraftBytes) {
    throw invalidRequest("/body", `makes a draft of more than ${maxDraftBytes} bytes`);
  }
  return draft;
}
