import type { ListingDraft } from "@ehr-marketplace/contracts";
import { Problem, rateLimitProblem } from "@ehr-marketplace/service-kit/http";
import type { Transaction } from "kysely";
import { v7 as uuid } from "uuid";
import type { VendorContext } from "../access/vendor-context.ts";
import type { DB } from "../database-schema.ts";
import { changeListing, listingAudit } from "../listings/change-listing.ts";
import { checkStoredDraft } from "../listings/check-listing.ts";
import type { ListingDeps } from "../listings/create-listing.ts";
import { decryptDraft, type TaggedListing } from "../listings/read-listings.ts";
import { formatInstant } from "../notices/notice.ts";
import { recordNotice } from "../notices/record-notice.ts";
import { addBusinessDays } from "./business-days.ts";
import { revisionNotesOwner } from "./read-revisions.ts";
import { reviewProblems } from "./review-errors.ts";
import {
  closeReview,
  countOpenReviews,
  findSubmissionTime,
  insertReview,
  insertRevision,
  insertRevisionMedia,
  lockSubmissions,
  nextRevisionNumber,
} from "./review-store.ts";

const maxOpenReviews = 20;
const maxSubmissionsPerDay = 50;
const dayMs = 86_400_000;
const businessDaysToDecide = 10;

/** Makes a revision of the draft, and opens its review. */
export function submitListing(deps: ListingDeps, by: VendorContext, slug: string): Promise<TaggedListing> {
  return changeListing(deps, by, slug, {
    command: "submit",
    async apply(transaction, row, at) {
      const draft = decryptDraft(deps.encryption, row);
      const { errors, problems } = await checkStoredDraft(transaction, row, draft, { ...deps, now: at });
      if (errors > 0) {
        throw new Problem(reviewProblems.draftHasErrors, `The draft has ${errors} error${errors === 1 ? "" : "s"}.`, {
          errors: problems.filter(({ severity }) => severity === "error"),
        });
      }
      await lockSubmissions(transaction, row.vendor_id);
      await requireFewSubmissions(transaction, row.vendor_id, at);
      const number = await nextRevisionNumber(transaction, row.app_id);
      const id = uuid();
      const { reviewNotes } = draft;
      const revision = {
        id,
        app_id: row.app_id,
        number,
        name: draft.name ?? "",
        version: draft.version ?? "",
        draft: JSON.stringify(row.draft),
        encrypted_review_notes:
          reviewNotes === undefined ? null : deps.encryption.encrypt(reviewNotes, revisionNotesOwner(id)),
        listing_version: row.version,
        submitted_at: at,
      };
      await insertRevision(transaction, revision, by.caller);
      if (!(await insertRevisionMedia(transaction, revision, mediaOf(draft)))) {
        throw new Problem(reviewProblems.draftHasErrors, "A file of the draft was just deleted: upload it again.");
      }
      const review = {
        id: uuid(),
        app_id: row.app_id,
        number,
        vendor_id: row.vendor_id,
        submitted_at: at,
        due_at: addBusinessDays(at, businessDaysToDecide),
      };
      await insertReview(transaction, review);
      await recordNotice(transaction, {
        audience: "operators",
        kind: "review-submitted",
        severity: "info",
        subject: `${revision.name} ${revision.version} was submitted for review`,
        detail: `Approve or reject revision ${number} of ${slug} (vendor ${by.vendor}) by ${formatInstant(review.due_at)}.`,
        link: null,
        key: `review-submitted:${review.id}`,
        at,
      });
      return { audit: listingAudit(row, "submit", { revision: number, review: review.id }) };
    },
  });
}

/** The ids of the files that a draft uses. */
function mediaOf({ icon, screenshots = [], baaDocument, trust }: ListingDraft): string[] {
  const ids = [icon, ...screenshots.map(({ media }) => media), baaDocument, trust?.ai?.modelCard];
  return [...new Set(ids.filter((id) => id !== undefined).map((id) => id.toLowerCase()))];
}

async function requireFewSubmissions(transaction: Transaction<DB>, vendorId: string, at: Date): Promise<void> {
  if ((await countOpenReviews(transaction, vendorId)) >= maxOpenReviews) {
    throw new Problem(reviewProblems.tooManyReviews, `The vendor has ${maxOpenReviews} open reviews.`);
  }
  const oldest = await findSubmissionTime(transaction, vendorId, maxSubmissionsPerDay);
  const retryAfterMs = oldest === undefined ? 0 : oldest.getTime() + dayMs - at.getTime();
  if (retryAfterMs > 0) {
    const detail = `The vendor has submitted ${maxSubmissionsPerDay} revisions within 24 hours.`;
    throw rateLimitProblem(reviewProblems.tooManySubmissions, detail, { limit: maxSubmissionsPerDay, retryAfterMs });
  }
}

/** Ends the open review. The draft stays as it is. */
export function withdrawListing(deps: ListingDeps, by: VendorContext, slug: string): Promise<TaggedListing> {
  return changeListing(deps, by, slug, {
    command: "withdraw",
    async apply(transaction, row, at) {
      const id = row.review_id ?? "";
      const { published_revision: publishedRevision } = row;
      await closeReview(transaction, id, { decision: "withdrawn", at, publishedRevision });
      return { audit: listingAudit(row, "withdraw", { review: id }) };
    },
  });
}
