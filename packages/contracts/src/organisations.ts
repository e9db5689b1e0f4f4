import { type Static, Type } from "typebox";
import { noNulPattern, slugPattern } from "./catalog-requests.ts";
import { nameMessage, namePattern } from "./names.ts";
import { nextCursor } from "./paging.ts";
import { instant, nullable, warnings } from "./wire-types.ts";

/** The aliases of common identity providers, limited to characters that need no escaping in a URL. */
export const orgAliasPattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$";

/** Not only white space. */
export const displayNamePattern = "^\\s*[^\\s\\u0000][^\\u0000]*$";

const orgAlias = Type.String({
  pattern: orgAliasPattern,
  maxLength: 64,
  description: "The organisation's alias, as in tokens",
  examples: ["riverside-clinic"],
});

/** Shorter secrets can be guessed. */
const signingSecret = Type.String({ minLength: 16, maxLength: 256, pattern: noNulPattern });

const organisationKinds = ["LIVE", "SANDBOX"] as const;

const kind = Type.Enum([...organisationKinds], { description: "`SANDBOX`: for the drafts of one vendor" });
const timeZone = Type.String({
  description: "In which pages show times to the organisation's people, as an IANA name. Statements are in UTC",
  examples: ["America/New_York"],
});

export const organisationParams = Type.Object({ alias: orgAlias });

const organisationFields = Type.Object(
  {
    displayName: Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: namePattern,
      "x-error-message": nameMessage,
      examples: ["Riverside Clinic"],
    }),
    callbackUrl: Type.Optional(
      nullable(
        Type.String({ format: "uri", maxLength: 2048, pattern: noNulPattern }),
        "Base URL of the organisation's EHR. A trailing slash is removed and `/api/internal/marketplace-webhook` is appended. Without a callback, events wait",
      ),
    ),
    callbackNetworks: Type.Optional(
      Type.Array(Type.String({ maxLength: 49, pattern: noNulPattern, examples: ["10.20.0.0/16"] }), {
        maxItems: 20,
        description: "Private networks that the callback may be in",
      }),
    ),
    timeZone: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        pattern: noNulPattern,
        description:
          "In which pages show times to the organisation's people, as an IANA name. Of a new organisation `UTC` unless given; if omitted, it stays",
        examples: ["America/New_York"],
      }),
    ),
    secret: Type.Optional({
      ...signingSecret,
      description:
        "Signs deliveries to the organisation's EHR. If omitted, a new organisation gets a generated secret and an existing one keeps its own",
    }),
  },
  { additionalProperties: false },
);

export const putOrganisationBody = Type.Object(
  {
    ...organisationFields.properties,
    kind: Type.Optional(
      Type.Enum([...organisationKinds], {
        description:
          "`SANDBOX`: for the drafts of one vendor. Of a new organisation `LIVE` unless given; it never changes, and if omitted it stays",
      }),
    ),
    vendorSlug: Type.Optional(
      Type.String({
        pattern: slugPattern,
        maxLength: 64,
        description: "The vendor that a new sandbox organisation is for. It never changes, and if omitted it stays",
        examples: ["northwind-health"],
      }),
    ),
  },
  { additionalProperties: false },
);
export type PutOrganisationBody = Static<typeof putOrganisationBody>;

/** Live ones only: sandbox organisations are registered one by one. */
export const importedOrganisation = Type.Object(
  { alias: orgAlias, ...organisationFields.properties },
  { additionalProperties: false },
);
export type ImportedOrganisation = Static<typeof importedOrganisation>;

export const organisationDto = Type.Object(
  {
    alias: orgAlias,
    displayName: Type.String(),
    callbackUrl: nullable(
      Type.String({ format: "uri" }),
      "Base URL of the organisation's EHR; null if there is none yet",
    ),
    callbackNetworks: Type.Array(Type.String(), { description: "Private networks that the callback may be in" }),
    timeZone,
    kind,
    vendorSlug: nullable(Type.String(), "The vendor that a sandbox organisation is for; null if it is live"),
    secret: Type.Optional(
      Type.String({
        description:
          "Only in the response to the request that generated it; it can't be read later, so pass it on to the EHR",
      }),
    ),
    createdAt: instant("Registered"),
    updatedAt: instant("Last changed"),
    warnings,
  },
  { $id: "OrganisationDto", title: "OrganisationDto" },
);
export type OrganisationDto = Static<typeof organisationDto>;

export const organisationPage = Type.Object(
  {
    items: Type.Array(Type.Ref("OrganisationDto#")),
    next: nextCursor,
  },
  { $id: "OrganisationPage", title: "OrganisationPage" },
);
export type OrganisationPage = { items: OrganisationDto[]; next: string | null };

/** What its own people read. The whole callback URL and the networks are the operator's. */
export const organisationProfile = Type.Object(
  {
    alias: orgAlias,
    displayName: Type.String(),
    kind,
    timeZone,
    callbackHost: nullable(
      Type.String({ examples: ["ehr.riverside.example"] }),
      "The host of the organisation's EHR, to which events are sent; null if there is none yet, so that events wait",
    ),
    delivery: Type.Object({
      status: Type.Enum(["active", "held"], {
        description:
          "`held`: the EHR didn't take several events, or has no callback, so events wait; one at a time is tried",
      }),
      heldSince: nullable(Type.String({ format: "date-time" }), "Since when; null if it isn't held"),
      oldestDueAt: nullable(
        Type.String({ format: "date-time" }),
        "When the oldest event happened that the EHR hasn't taken yet; null if there is none",
      ),
    }),
    createdAt: instant("Registered"),
  },
  { $id: "OrganisationProfile", title: "OrganisationProfile" },
);
export type OrganisationProfile = Static<typeof organisationProfile>;
