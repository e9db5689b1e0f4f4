import type { ListingStatus, ReviewStatus } from "@ehr-marketplace/contracts";
import { Problem, type ProblemKind } from "@ehr-marketplace/service-kit/http";
import { listingProblems } from "./listing-errors.ts";

/** What the state of a listing depends on. */
export interface ListingFacts {
  publishedRevision: number | null;
  /** Of the newest review; null if the listing was never submitted. */
  review: ReviewStatus | null;
  isUnpublished: boolean;
  isSuspended: boolean;
  /** The command is to suspend the app and to pause its subscriptions, which no suspension does yet. */
  startsToPause?: boolean;
}

export const listingCommands = [
  "submit",
  "delete",
  "withdraw",
  "approve",
  "reject",
  "unpublish",
  "republish",
  "feature",
  "unfeature",
  "suspend",
  "reinstate",
] as const;
export type ListingCommand = (typeof listingCommands)[number];

/**
 * What keeps an app from the public comes first, then what its vendor waits for or has to do. `publishedRevision` tells whether
 * there is a public revision beside the one under review.
 */
export function listingStatus({ publishedRevision, review, isUnpublished, isSuspended }: ListingFacts): ListingStatus {
  if (isSuspended) return "suspended";
  if (isUnpublished) return "unpublished";
  if (review === "open") return "in-review";
  if (review === "rejected") return "changes-requested";
  return publishedRevision === null ? "draft" : "published";
}

/** Why a command can't be done now; undefined if it can. A suspended or unpublished listing can still be reviewed. */
export function findRefusal(facts: ListingFacts, command: ListingCommand): ProblemKind | undefined {
  const { publishedRevision, review, isUnpublished, isSuspended, startsToPause = false } = facts;
  switch (command) {
    case "submit":
      return review === "open" ? listingProblems.reviewOpen : undefined;
    case "delete":
      return review === null && publishedRevision === null ? undefined : listingProblems.submitted;
    case "withdraw":
    case "approve":
    case "reject":
      return review === "open" ? undefined : listingProblems.noOpenReview;
    case "unpublish":
      if (publishedRevision === null) return listingProblems.notPublished;
      return isUnpublished ? listingProblems.alreadyUnpublished : undefined;
    case "republish":
      return isUnpublished ? undefined : listingProblems.notUnpublished;
    case "feature":
    case "unfeature":
      return publishedRevision === null ? listingProblems.notPublished : undefined;
    case "suspend":
      if (publishedRevision === null) return listingProblems.notPublished;
      return isSuspended && !startsToPause ? listingProblems.alreadySuspended : undefined;
    case "reinstate":
      return isSuspended ? undefined : listingProblems.notSuspended;
  }
}

export function requireAllowed(facts: ListingFacts, command: ListingCommand): void {
  const refusal = findRefusal(facts, command);
  if (refusal === undefined) return;
  // The advice is Markdown, and a detail is plain text.
  throw new Problem(refusal, `The listing is ${listingStatus(facts)}. ${refusal.advice.replaceAll("`", "")}`);
}
