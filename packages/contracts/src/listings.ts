import { type Static, Type } from "typebox";
import { noNulPattern, slugPattern } from "./catalog-requests.ts";
import { nameMessage, namePattern } from "./names.ts";
import { nextCursor } from "./paging.ts";
import { sandboxSlugPrefix } from "./sandbox.ts";
import { currency, instant, nullable, rate, uuid } from "./wire-types.ts";

const text = (maxLength: number, description: string) =>
  Type.Optional(Type.String({ maxLength, pattern: noNulPattern, description }));
const texts = (maxItems: number, maxLength: number, description: string) =>
  Type.Optional(Type.Array(Type.String({ maxLength, pattern: noNulPattern }), { maxItems, description }));
const oneOf = <T extends string>(values: readonly T[], description: string) =>
  Type.Optional(Type.Enum([...values] as [T, ...T[]], { description }));
const mediaId = (description: string) => Type.Optional(uuid(description));
const date = (description: string) => Type.Optional(Type.String({ format: "date", maxLength: 10, description }));
const closed = { additionalProperties: false };

export const listingStatuses = [
  "draft",
  "in-review",
  "changes-requested",
  "published",
  "suspended",
  "unpublished",
] as const;
export type ListingStatus = (typeof listingStatuses)[number];

const slug = Type.String({
  pattern: slugPattern,
  minLength: 3,
  maxLength: 64,
  description: "The app's key in paths; it never changes",
  examples: ["northwind-scribe"],
});

const draftTier = Type.Object(
  {
    upTo: Type.Optional(nullable(Type.Integer({ minimum: 1 }), "Last unit of the tier; null for the last tier")),
    unitAmount: Type.Optional(rate),
    flatAmount: Type.Optional(Type.Integer({ minimum: 0 })),
  },
  closed,
);

const draftPlan = Type.Object(
  {
    id: Type.Optional(uuid("The plan's id, once it was on sale")),
    name: text(200, "The plan's name"),
    description: text(2_000, "What the plan includes"),
    pricingModel: oneOf(["FREE", "FLAT", "PER_UNIT", "TIERED", "USAGE"], "How the plan charges"),
    currency: Type.Optional(
      Type.String({ ...currency, "x-error-message": "must be a currency's ISO 4217 code, such as USD" }),
    ),
    amount: Type.Optional(nullable(rate, "In the currency's minor unit")),
    interval: Type.Optional(nullable(Type.Enum(["MONTH", "YEAR"]), "Billing interval")),
    trialDays: Type.Optional(Type.Integer({ minimum: 0, maximum: 365 })),
    unitName: Type.Optional(nullable(Type.String({ maxLength: 100, pattern: noNulPattern }), "Name of the unit")),
    includedUnits: Type.Optional(nullable(Type.Integer({ minimum: 0 }), "Units included in the price")),
    tiers: Type.Optional(Type.Array(draftTier, { maxItems: 50 })),
    tierMode: Type.Optional(nullable(Type.Enum(["GRADUATED", "VOLUME"]), "How tiers are charged")),
    metric: Type.Optional(nullable(Type.String({ maxLength: 100, pattern: noNulPattern }), "Metric of the usage")),
    aggregation: Type.Optional(nullable(Type.Enum(["SUM", "COUNT", "MAX", "LATEST"]), "How usage is aggregated")),
    features: texts(50, 200, "What the plan offers, one line each"),
  },
  closed,
);
export type DraftPlan = Static<typeof draftPlan>;

const trust = Type.Object(
  {
    certifications: Type.Optional(
      Type.Array(
        Type.Object(
          {
            kind: text(50, "SOC2, HITRUST, ISO27001 or another"),
            validUntil: date("Last day of its validity"),
            evidenceUrl: text(2_048, "Where the certificate or report is"),
          },
          closed,
        ),
        { maxItems: 20 },
      ),
    ),
    dataHandling: Type.Optional(
      Type.Object(
        {
          regions: texts(50, 100, "Where data is stored"),
          retentionDays: Type.Optional(Type.Integer({ minimum: 0, maximum: 36_500 })),
          deletionDays: Type.Optional(Type.Integer({ minimum: 0, maximum: 36_500 })),
          subprocessors: texts(100, 200, "Who else processes the data"),
          phiInLogs: Type.Optional(Type.Boolean({ description: "Whether logs contain health information" })),
          trainsOnData: Type.Optional(Type.Boolean({ description: "Whether models are trained on the data" })),
        },
        closed,
      ),
    ),
    accessibility: Type.Optional(
      Type.Object(
        {
          standard: text(100, "For example WCAG 2.2 AA"),
          reportUrl: text(2_048, "Where the report is"),
          reportDate: date("The day of the report"),
        },
        closed,
      ),
    ),
    ai: Type.Optional(
      Type.Object(
        {
          kind: oneOf(["NONE", "PREDICTIVE", "GENERATIVE"], "Which kind of AI the app uses"),
          modelCard: mediaId("A document about the model"),
        },
        closed,
      ),
    ),
  },
  { ...closed, description: "What practices base their trust on" },
);

/** Everything is optional: a draft is saved incomplete, and `check` says what it lacks. */
export const listingDraft = Type.Object(
  {
    name: text(200, "Display name"),
    summary: text(500, "One sentence for lists"),
    description: text(20_000, "What the app does, in Markdown"),
    category: text(64, "See `/apps/categories`"),
    version: text(64, "The app's version"),
    releaseNotes: text(5_000, "What is new, in Markdown"),
    reviewNotes: text(10_000, "For reviewers only, for example how to sign in to a test account. Stored encrypted"),
    audience: oneOf(["CLINICIAN", "PATIENT", "BACKEND"], "Who uses the app"),
    extensionPoints: texts(50, 100, "Extension points of the EHR's user interface that the app uses"),
    smartLaunchUrl: text(2_048, "SMART App Launch URL"),
    cdsServicesUrl: text(2_048, "CDS Hooks discovery URL"),
    fhirScopes: text(10_000, "Space-separated list of FHIR scopes"),
    scopePurposes: Type.Optional(
      Type.Record(
        Type.String({ maxLength: 500, pattern: noNulPattern }),
        Type.String({ maxLength: 500, pattern: noNulPattern }),
        {
          maxProperties: 200,
          description: "Why the app needs each scope, shown to practices",
        },
      ),
    ),
    oauth: Type.Optional(
      Type.Object(
        {
          type: oneOf(["PUBLIC", "ASYMMETRIC"], "How the app authenticates: with PKCE only, or with a key of its JWKS"),
          redirectUris: texts(20, 2_048, "Where the authorization server sends the user back to"),
          jwksUri: text(2_048, "Where the app's public keys are"),
          grantTypes: texts(10, 100, "For example `authorization_code`"),
          contacts: texts(10, 254, "Email addresses of those responsible for the client"),
        },
        closed,
      ),
    ),
    websiteUrl: text(2_048, "The app's site"),
    supportUrl: text(2_048, "Where users get help"),
    privacyPolicyUrl: text(2_048, "Privacy policy"),
    termsUrl: text(2_048, "Terms of service"),
    configSchema: Type.Optional(
      Type.Object({}, { additionalProperties: true, description: "JSON Schema of the app's configuration" }),
    ),
    icon: mediaId("Id of the icon's media"),
    screenshots: Type.Optional(
      Type.Array(Type.Object({ media: mediaId("Id of the media"), text: text(500, "Alternative text") }, closed), {
        maxItems: 10,
      }),
    ),
    baaDocument: mediaId("Id of the business associate agreement, a PDF"),
    trust: Type.Optional(trust),
    plans: Type.Optional(Type.Array(draftPlan, { maxItems: 20, description: "The pricing plans, in order" })),
  },
  { $id: "ListingDraft", title: "ListingDraft", ...closed },
);
export type ListingDraft = Static<typeof listingDraft>;

/** Names of paths below `/apps`, as in `apps_slug_check`. The slugs of sandbox apps are reserved too. */
export const reservedSlugs: readonly string[] = ["search", "featured", "categories"];
export const newSlugPattern: string = `^(?!(${reservedSlugs.join("|")})$|${sandboxSlugPrefix})[a-z0-9]+(-[a-z0-9]+)*$`;

export const createListingBody = Type.Object(
  {
    slug: Type.String({
      ...slug,
      pattern: newSlugPattern,
      "x-error-message": `must be 3 to 64 lower-case letters and digits with single hyphens, none of ${reservedSlugs.join(", ")}, and not begin with ${sandboxSlugPrefix}`,
    }),
    name: Type.String({ minLength: 1, maxLength: 200, pattern: namePattern, "x-error-message": nameMessage }),
  },
  closed,
);
export type CreateListingBody = Static<typeof createListingBody>;

export const listingParams = Type.Object({ slug: Type.String({ pattern: slugPattern, maxLength: 64 }) });

const review = nullable(
  Type.Object({
    id: uuid("The review's id"),
    submittedAt: instant("Submitted"),
    dueAt: instant("Decided by then"),
    reasons: Type.Array(
      Type.Object({
        pointer: Type.String({ description: "JSON Pointer into the draft" }),
        code: Type.Optional(Type.String({ description: "One of the codes of `check`" })),
        text: Type.String(),
      }),
      { description: "Why it was rejected; empty before a decision" },
    ),
  }),
  "The last review, unless it was approved or withdrawn",
);

/** A suspended app may be unpublished, too, and then stays so when it is reinstated. */
export const isUnpublished = Type.Boolean({
  description: "Whether the vendor has taken the app out of the catalog, also while `status` is `suspended`",
});

const listingFields = {
  slug,
  status: Type.Enum([...listingStatuses]),
  publishedRevision: nullable(Type.Integer({ minimum: 1 }), "The revision that the public sees"),
  isUnpublished,
  review,
  suspension: nullable(
    Type.Object({ since: instant("Suspended"), reason: Type.String() }),
    "Why and since when an operator has suspended the app; null if it isn't",
  ),
  createdAt: instant("Created"),
  updatedAt: instant("Last changed"),
};

export const listingDto = Type.Object(
  { ...listingFields, draft: Type.Ref("ListingDraft#") },
  { $id: "ListingDto", title: "ListingDto" },
);
export type ListingSummary = {
  slug: string;
  name: string;
  status: ListingStatus;
  publishedRevision: number | null;
  isUnpublished: boolean;
  review: Static<typeof review>;
  suspension: { since: string; reason: string } | null;
  createdAt: string;
  updatedAt: string;
};
export type ListingDto = Omit<ListingSummary, "name"> & { draft: ListingDraft };

export const listingPage = Type.Object(
  {
    items: Type.Array(Type.Object({ ...listingFields, name: Type.String() })),
    next: nextCursor,
  },
  { $id: "ListingPage", title: "ListingPage" },
);
export type ListingPage = { items: ListingSummary[]; next: string | null };

export const listingCheck = Type.Object(
  {
    errors: Type.Integer({ minimum: 0 }),
    warnings: Type.Integer({ minimum: 0 }),
    problems: Type.Array(
      Type.Object({
        pointer: Type.String({ description: "JSON Pointer into the draft" }),
        code: Type.String({ description: "Stable; also the public criteria of a review" }),
        detail: Type.String({ description: "What is wrong, and what to do" }),
        severity: Type.Enum(["error", "warning"]),
      }),
    ),
  },
  { $id: "ListingCheck", title: "ListingCheck" },
);
export type ListingCheck = Static<typeof listingCheck>;
