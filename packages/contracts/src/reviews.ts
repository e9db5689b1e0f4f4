import { type Static, Type } from "typebox";
import { slugPattern } from "./catalog-requests.ts";
import type { ListingCheck, ListingDraft, ListingStatus } from "./listings.ts";
import { isUnpublished, listingStatuses } from "./listings.ts";
import { displayNamePattern } from "./organisations.ts";
import { nextCursor, type PageQuery, pageQuery } from "./paging.ts";
import { instant, nullable, uuid } from "./wire-types.ts";

const closed = { additionalProperties: false };

export const reviewStatuses = ["open", "approved", "rejected", "withdrawn"] as const;
export type ReviewStatus = (typeof reviewStatuses)[number];
const reviewStatus = Type.Enum([...reviewStatuses]);

export const reviewParams = Type.Object({ id: uuid("The review's id") });

export const listReviewsQuery = Type.Object({
  ...pageQuery.properties,
  status: Type.Optional(
    Type.Enum([...reviewStatuses], { default: "open", description: "Only reviews with this status" }),
  ),
  vendor: Type.Optional(
    Type.String({ pattern: slugPattern, maxLength: 64, description: "Only reviews of this vendor's apps" }),
  ),
});
export type ListReviewsQuery = PageQuery & { status: ReviewStatus; vendor?: string };

/** A text that people read as an explanation, so it isn't blank. */
const explanation = (options: object) =>
  Type.String({
    minLength: 1,
    maxLength: 2_000,
    pattern: displayNamePattern,
    "x-error-message": "must have 1 to 2,000 characters, not only white space, and no NUL",
    ...options,
  });

const rejectionReason = {
  pointer: Type.String({
    maxLength: 500,
    pattern: "^(/([^~/\\u0000]|~[01])*)*$",
    "x-error-message": "must be a JSON Pointer of at most 500 characters, such as /plans/0/name",
    description: "JSON Pointer into the draft, which begins with one of its fields; empty for the whole draft",
    examples: ["/description"],
  }),
  code: Type.Optional(
    Type.String({
      maxLength: 64,
      pattern: "^[a-z0-9-]+$",
      "x-error-message": "must be one of the codes of `check`",
      description: "One of the codes of `check`, if one fits",
    }),
  ),
  text: explanation({ description: "What is wrong, and what to do; if no code fits, also why" }),
};
export const rejectReviewBody = Type.Object(
  {
    reasons: Type.Array(Type.Object(rejectionReason, closed), {
      minItems: 1,
      maxItems: 30,
      description: "One per field that has to change",
    }),
  },
  {
    ...closed,
    examples: [
      { reasons: [{ pointer: "/description", code: "text-missing", text: "Say which results the app writes back." }] },
    ],
  },
);
export type RejectReviewBody = Static<typeof rejectReviewBody>;
export type RejectionReason = RejectReviewBody["reasons"][number];

export const approveReviewBody = Type.Object(
  {
    verifiedCertifications: Type.Optional(
      Type.Array(Type.Integer({ minimum: 0, maximum: 19 }), {
        maxItems: 20,
        description: "The positions in `trust.certifications`, from 0, whose evidence you have verified",
        examples: [[]],
      }),
    ),
  },
  closed,
);
export type ApproveReviewBody = Static<typeof approveReviewBody>;

const reasons = Type.Array(Type.Object(rejectionReason), { description: "Why it was rejected; otherwise empty" });

const reviewFields = {
  id: uuid("The review's id"),
  slug: Type.String({ description: "The app's slug" }),
  name: Type.String({ description: "The app's name in the revision" }),
  vendor: Type.String({ description: "The vendor's slug" }),
  revision: Type.Integer({ minimum: 1 }),
  version: Type.String({ description: "The app's version in the revision" }),
  status: reviewStatus,
  submittedAt: instant("Submitted"),
  dueAt: instant("To be decided by then: ten business days after the submission"),
  decidedAt: nullable(instant("Approved, rejected or withdrawn"), "When it was decided; null while it is open"),
};

export interface ReviewSummary {
  id: string;
  slug: string;
  name: string;
  vendor: string;
  revision: number;
  version: string;
  status: ReviewStatus;
  submittedAt: string;
  dueAt: string;
  decidedAt: string | null;
}

export const reviewPage = Type.Object(
  { items: Type.Array(Type.Object(reviewFields), { description: "Oldest first" }), next: nextCursor },
  { $id: "ReviewPage", title: "ReviewPage" },
);
export type ReviewPage = { items: ReviewSummary[]; next: string | null };

const similarNameKinds = ["app", "vendor"] as const;
export interface SimilarName {
  kind: (typeof similarNameKinds)[number];
  slug: string;
  name: string;
}

const anyValue = (description: string) => Type.Optional(Type.Unknown({ description }));

export const reviewDto = Type.Object(
  {
    ...reviewFields,
    reasons,
    draft: Type.Ref("ListingDraft#"),
    comparedWith: nullable(
      Type.Integer({ minimum: 1 }),
      "The public revision that it differs from; null for the first one",
    ),
    differences: Type.Array(
      Type.Object({
        pointer: Type.String({ description: "JSON Pointer into the draft" }),
        before: anyValue("Absent if it was added"),
        after: anyValue("Absent if it was removed"),
        shortened: Type.Optional(Type.Boolean({ description: "Whether a long text was cut" })),
        mark: Type.Optional(Type.String({ description: "What needs a closer look, for example `scope-added`" })),
      }),
      { description: "Field by field; the marked ones first" },
    ),
    truncated: Type.Boolean({ description: "Whether there are more differences than are listed" }),
    similarNames: Type.Array(
      Type.Object({
        kind: Type.Enum([...similarNameKinds], { description: "Whose name it is" }),
        slug: Type.String({ description: "Of the app or the vendor" }),
        name: Type.String(),
      }),
      {
        description:
          "Other vendors, and apps of theirs, whose names look like this one: equal but for case, accents, spaces, punctuation and letters that look alike (UTS #39). At most ten of each",
      },
    ),
    check: Type.Ref("ListingCheck#"),
  },
  { $id: "ReviewDto", title: "ReviewDto" },
);
export type ReviewDto = ReviewSummary & {
  reasons: RejectionReason[];
  draft: ListingDraft;
  comparedWith: number | null;
  differences: { pointer: string; before?: unknown; after?: unknown; shortened?: boolean; mark?: string }[];
  truncated: boolean;
  similarNames: SimilarName[];
  check: ListingCheck;
};

export const revisionParams = Type.Object({
  slug: Type.String({ pattern: slugPattern, maxLength: 64 }),
  revision: Type.String({
    pattern: "^[1-9]\\d{0,8}$",
    maxLength: 9,
    "x-error-message": "must be the number of a revision, such as 3",
    description: "The revision's number",
  }),
});

const revisionFields = {
  revision: Type.Integer({ minimum: 1 }),
  name: Type.String(),
  version: Type.String(),
  status: reviewStatus,
  isPublic: Type.Boolean({ description: "Whether it is the published revision" }),
  submittedAt: instant("Submitted"),
  decidedAt: nullable(instant("Approved, rejected or withdrawn"), "When it was decided; null while it is open"),
};
export interface RevisionSummary {
  revision: number;
  name: string;
  version: string;
  status: ReviewStatus;
  isPublic: boolean;
  submittedAt: string;
  decidedAt: string | null;
}

export const revisionPage = Type.Object(
  { items: Type.Array(Type.Object(revisionFields), { description: "Newest first" }), next: nextCursor },
  { $id: "RevisionPage", title: "RevisionPage" },
);
export type RevisionPage = { items: RevisionSummary[]; next: string | null };

export const revisionDto = Type.Object(
  { ...revisionFields, reasons, draft: Type.Ref("ListingDraft#") },
  { $id: "RevisionDto", title: "RevisionDto" },
);
export type RevisionDto = RevisionSummary & { reasons: RejectionReason[]; draft: ListingDraft };

export const suspensionJobStates = ["pausing", "paused", "resuming"] as const;

const suspendedSubscriptions = Type.Object({
  state: Type.Enum([...suspensionJobStates], {
    description:
      "`pausing` until all are paused, then `paused`; `resuming` once the app is reinstated, until all that the suspension paused are resumed",
  }),
  found: Type.Integer({ minimum: 0, description: "How many there are to pause; 0 until the job has counted them" }),
  paused: Type.Integer({ minimum: 0, description: "How many the suspension has paused so far" }),
  resumed: Type.Integer({
    minimum: 0,
    description: "How many it has resumed so far. Subscriptions that were cancelled meanwhile are not resumed",
  }),
});
export type SuspendedSubscriptions = Static<typeof suspendedSubscriptions>;

export const adminAppDto = Type.Object(
  {
    slug: Type.String(),
    name: Type.String({ description: "The published name; the draft's before the first publication" }),
    vendor: Type.String({ description: "The vendor's slug" }),
    status: Type.Enum([...listingStatuses]),
    publishedRevision: nullable(Type.Integer({ minimum: 1 }), "The revision that the public sees"),
    isUnpublished,
    featured: Type.Boolean(),
    suspension: nullable(
      Type.Object({
        since: instant("Suspended"),
        reason: Type.String(),
        subscriptions: nullable(
          suspendedSubscriptions,
          "The progress of pausing the app's subscriptions; null if the suspension pauses none",
        ),
      }),
      "Why and since when it is suspended; null if it isn't. A reinstated app has it until its subscriptions are resumed",
    ),
    createdAt: instant("Created"),
    updatedAt: instant("Last changed"),
  },
  { $id: "AdminAppDto", title: "AdminAppDto" },
);
export interface AdminAppDto {
  slug: string;
  name: string;
  vendor: string;
  status: ListingStatus;
  publishedRevision: number | null;
  isUnpublished: boolean;
  featured: boolean;
  suspension: { since: string; reason: string; subscriptions: SuspendedSubscriptions | null } | null;
  createdAt: string;
  updatedAt: string;
}

export const listAdminAppsQuery = Type.Object({
  ...pageQuery.properties,
  status: Type.Optional(Type.Enum([...listingStatuses], { description: "Only apps with this status" })),
  vendor: Type.Optional(
    Type.String({
      pattern: slugPattern,
      maxLength: 64,
      description: "Only apps of this vendor; an unknown vendor has none",
      examples: ["northwind-health"],
    }),
  ),
  suspended: Type.Optional(Type.Boolean({ description: "Only apps that are suspended, or only those that aren't" })),
});
export type ListAdminAppsQuery = Static<typeof listAdminAppsQuery> & PageQuery;

const { suspension: _, ...adminAppFields } = adminAppDto.properties;

export const adminAppSummary = Type.Object(
  {
    ...adminAppFields,
    suspension: nullable(
      Type.Object({ since: instant("Suspended"), reason: Type.String() }),
      "Why and since when it is suspended; null if it isn't. `GET /admin/apps/{slug}` has the progress of pausing its subscriptions",
    ),
  },
  { $id: "AdminAppSummary", title: "AdminAppSummary" },
);
export type AdminAppSummary = Omit<AdminAppDto, "suspension"> & {
  suspension: { since: string; reason: string } | null;
};

export const adminAppPage = Type.Object(
  { items: Type.Array(Type.Ref("AdminAppSummary#"), { description: "Newest first" }), next: nextCursor },
  { $id: "AdminAppPage", title: "AdminAppPage" },
);
export type AdminAppPage = { items: AdminAppSummary[]; next: string | null };

export const suspendAppBody = Type.Object(
  {
    reason: explanation({
      description: "Why; the vendor sees it",
      examples: ["The launch URL opens another company's site."],
    }),
    pauseSubscriptions: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          "Also pauses the app's active subscriptions (`SECURITY`), in the background; `suspension.subscriptions` shows the progress. Reinstating resumes those, and no others",
      }),
    ),
  },
  closed,
);
export type SuspendAppBody = Static<typeof suspendAppBody>;
