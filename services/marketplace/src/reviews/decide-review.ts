import {
  type ApproveReviewBody,
  listingDraft,
  type RejectReviewBody,
  type ReviewDto,
} from "@ehr-marketplace/contracts";
import { criteria } from "@ehr-marketplace/listing-rules";
import { invalidRequest, Problem } from "@ehr-marketplace/service-kit/http";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import { v7 as uuid } from "uuid";
import type { RequestContext } from "../access/request-context.ts";
import type { DB } from "../database-schema.ts";
import { recordAppUpdated } from "../events/record-app-updated.ts";
import { type AppliedChange, changeAnyListing } from "../listings/change-listing.ts";
import { checkStoredDraft } from "../listings/check-listing.ts";
import type { ListingDeps } from "../listings/create-listing.ts";
import { listingProblems } from "../listings/listing-errors.ts";
import { namePlans } from "../listings/name-plans.ts";
import { factsOf, type ListingRow } from "../listings/read-listings.ts";
import type { NewNotice } from "../notices/notice.ts";
import { notifyOfAddedScopes } from "../notices/notify-of-scopes.ts";
import { recordNotice } from "../notices/record-notice.ts";
import { getReview, reviewNotFound } from "./read-reviews.ts";
import { reviewProblems } from "./review-errors.ts";
import {
  approveInDatabase,
  closeReview,
  findAppScopes,
  findReview,
  findReviewedSlug,
  isEditor,
  type ReviewedRow,
} from "./review-store.ts";

export interface ReviewDeps extends ListingDeps {
  queue: Queue;
  /** Where media are served, without a slash at the end. */
  publicUrl: string;
}

interface Decision {
  command: "approve" | "reject";
  /** Makes the change, and returns what the audit log says of it. */
  apply: (
    transaction: Transaction<DB>,
    review: ReviewedRow,
    listing: ListingRow,
    at: Date,
  ) => Promise<{ changes?: AppliedChange["changes"]; after: object }>;
}

/** Decides an open review in one transaction, which locks the listing first, as every change of a listing does. */
async function decideReview(
  deps: ReviewDeps,
  by: RequestContext,
  id: string,
  { command, apply }: Decision,
): Promise<ReviewDto> {
  const slug = await findReviewedSlug(deps.database, id);
  if (slug === undefined) throw reviewNotFound();
  const readReview = async (transaction: Transaction<DB>): Promise<ReviewedRow> => {
    const review = await findReview(transaction, id);
    if (review === undefined) throw reviewNotFound();
    return review;
  };
  await changeAnyListing(deps, by, slug, {
    command,
    // Of this review, which may not be the newest.
    async facts(transaction, row) {
      const review = await readReview(transaction);
      requireOpen(review);
      return { ...factsOf(row), review: review.status };
    },
    async apply(transaction, listing, at) {
      const review = await readReview(transaction);
      const { changes, after } = await apply(transaction, review, listing, at);
      await recordNotice(transaction, noticeOf(review, command, at));
      const audit = {
        action: `review.${command}`,
        target: { kind: "review", id },
        before: { status: review.status, publishedRevision: listing.published_revision },
        after: { slug, revision: review.number, ...after },
      };
      return { ...(changes === undefined ? {} : { changes }), audit };
    },
  });
  return getReview(deps, id);
}

const noticeOf = (review: ReviewedRow, command: Decision["command"], at: Date): NewNotice => ({
  audience: { vendorId: review.vendor_id },
  kind: "review-decided",
  severity: command === "approve" ? "info" : "warning",
  subject: `${review.name} ${review.version}: revision ${review.number} was ${command === "approve" ? "approved" : "rejected"}`,
  detail:
    command === "approve"
      ? "It is published. There is nothing to do."
      : "Read the reviewer's reasons in the listing, change the draft and submit it again.",
  link: null,
  key: `review-decided:${review.id}`,
  at,
});

function requireOpen({ status, decided_at: decidedAt, number }: ReviewedRow): void {
  if (status === "open") return;
  const detail = `This review of revision ${number} was ${status} at ${decidedAt?.toISOString()}.`;
  throw new Problem(listingProblems.noOpenReview, detail);
}

/** Publishes the revision. */
export function approveReview(
  deps: ReviewDeps,
  by: RequestContext,
  id: string,
  { verifiedCertifications = [] }: ApproveReviewBody,
): Promise<ReviewDto> {
  return decideReview(deps, by, id, {
    command: "approve",
    async apply(transaction, review, listing, at) {
      if (await isEditor(transaction, review, by.caller)) {
        throw new Problem(reviewProblems.ownRevision, describeOwnEdits(review));
      }
      requireCertifications(review, verifiedCertifications);
      await requireUsable(transaction, deps, review, at);
      const plans = (review.draft.plans ?? []).map((plan) => ({ ...plan, id: plan.id ?? uuid() }));
      const before = await findAppScopes(transaction, review.app_id);
      await approveInDatabase(transaction, {
        id,
        by: by.caller,
        at,
        mediaUrl: `${deps.publicUrl}/media/`,
        planIds: plans.map((plan) => plan.id),
        verifiedCertifications,
      });
      await recordAppUpdated(transaction, deps.queue, { appId: review.app_id, at });
      if (before !== undefined) {
        const after = review.draft.fhirScopes ?? "";
        await notifyOfAddedScopes(transaction, { appId: review.app_id, revision: review.number, before, after, at });
      }
      return {
        changes: { draft: namePlans(listing.draft, plans) },
        after: { status: "approved", verifiedCertifications },
      };
    },
  });
}

function describeOwnEdits({ number, published_revision: publicNumber }: ReviewedRow): string {
  const since = publicNumber === null ? "before the first approval" : `after revision ${publicNumber} was submitted`;
  return `You submitted revision ${number}, or edited the draft ${since}. Another operator has to approve it.`;
}

function requireCertifications({ draft }: ReviewedRow, positions: number[]): void {
  const count = draft.trust?.certifications?.length ?? 0;
  const unknown = positions.findIndex((position) => position >= count);
  if (unknown >= 0) {
    throw invalidRequest(`/body/verifiedCertifications/${unknown}`, `must be less than ${count}`);
  }
}

/** A category or a plan may be gone since the revision was submitted. */
async function requireUsable(
  transaction: Transaction<DB>,
  { allowsHttp, usageLimits }: ReviewDeps,
  review: ReviewedRow,
  now: Date,
): Promise<void> {
  const { errors, problems } = await checkStoredDraft(transaction, review, review.draft, {
    now,
    allowsHttp,
    usageLimits,
  });
  if (errors === 0) return;
  throw new Problem(reviewProblems.hasErrors, `The revision has ${errors} error${errors === 1 ? "" : "s"}.`, {
    errors: problems.filter(({ severity }) => severity === "error"),
  });
}

/** Returns the revision to the vendor, who sees the reasons. */
export function rejectReview(
  deps: ReviewDeps,
  by: RequestContext,
  id: string,
  { reasons }: RejectReviewBody,
): Promise<ReviewDto> {
  for (const [index, { pointer, code }] of reasons.entries()) {
    const field = pointer.split("/")[1];
    if (field !== undefined && !Object.hasOwn(listingDraft.properties, field)) {
      throw invalidRequest(`/body/reasons/${index}/pointer`, "must begin with a field of the draft, or be empty");
    }
    if (code !== undefined && !Object.hasOwn(criteria, code)) {
      throw invalidRequest(`/body/reasons/${index}/code`, "must be one of the codes of check, or absent");
    }
  }
  return decideReview(deps, by, id, {
    command: "reject",
    async apply(transaction, _review, { published_revision: publishedRevision }, at) {
      await closeReview(transaction, id, { decision: "rejected", at, publishedRevision, reasons });
      return { after: { status: "rejected", reasons: reasons.length } };
    },
  });
}
