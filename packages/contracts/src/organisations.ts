import { type Static, Type } from "typebox";
import { withoutNul } from "./catalog-requests.ts";
import { instant, nullable } from "./wire-types.ts";

/** As identity providers write them; nothing in it needs escaping in a URL. */
export const orgAliasPattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$";

const orgAlias = Type.String({
  pattern: orgAliasPattern,
  maxLength: 64,
  description: "The organisation's alias, as tokens name it",
  examples: ["riverside-clinic"],
});

/** Shorter ones can be guessed. */
const signingSecret = Type.String({ minLength: 16, maxLength: 256, pattern: withoutNul });

export const organisationParams = Type.Object({ alias: orgAlias });

export const putOrganisation = Type.Object(
  {
    displayName: Type.String({ minLength: 1, maxLength: 200, pattern: withoutNul, examples: ["Riverside Clinic"] }),
    callbackUrl: Type.Optional(
      nullable(
        Type.String({ format: "uri", maxLength: 2048, pattern: withoutNul }),
        "Where its EHR listens; `/api/internal/marketplace-webhook` is added to it, and a trailing slash is removed before. Without one, its events wait",
      ),
    ),
    callbackNetworks: Type.Optional(
      Type.Array(Type.String({ maxLength: 49, pattern: withoutNul, examples: ["10.20.0.0/16"] }), {
        maxItems: 20,
        description: "Networks that the callback may be in although they are private",
      }),
    ),
    secret: Type.Optional({
      ...signingSecret,
      description: "Signs what is sent to its EHR. Left out: a new organisation gets one, an old one keeps its own",
    }),
  },
  { additionalProperties: false },
);
export type PutOrganisation = Static<typeof putOrganisation>;

export const organisationDto = Type.Object(
  {
    alias: orgAlias,
    displayName: Type.String(),
    callbackUrl: nullable(Type.String({ format: "uri" }), "Where its EHR listens; null: nowhere yet"),
    callbackNetworks: Type.Array(Type.String(), { description: "Private networks that the callback may be in" }),
    secret: Type.Optional(
      Type.String({
        description: "Only in the answer that made it, and nowhere ever again: pass it on to the EHR now",
      }),
    ),
    createdAt: instant("Registered"),
    updatedAt: instant("Last changed"),
  },
  { $id: "OrganisationDto", title: "OrganisationDto" },
);
export type OrganisationDto = Static<typeof organisationDto>;

export const organisationPage = Type.Object(
  {
    items: Type.Array(Type.Ref("OrganisationDto#")),
    next: nullable(Type.String(), "The `after` of the next page; null: this is the last one"),
  },
  { $id: "OrganisationPage", title: "OrganisationPage" },
);
export type OrganisationPage = { items: OrganisationDto[]; next: string | null };
