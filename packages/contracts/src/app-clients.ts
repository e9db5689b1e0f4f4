import { type Static, Type } from "typebox";
import { noNulPattern } from "./catalog-requests.ts";
import { successResponse } from "./ehr.ts";
import { type PageQuery, pageQuery } from "./paging.ts";
import { instant, nullable, url, uuid } from "./wire-types.ts";

export const registrationMethods = ["cimd", "dcr", "manual"] as const;
export type RegistrationMethod = (typeof registrationMethods)[number];
const clientStatuses = ["pending", "ready", "failed", "uncertain", "removing"] as const;
export type ClientStatus = (typeof clientStatuses)[number];
const clientTasks = ["register", "update", "remove", "check"] as const;
export type ClientTask = (typeof clientTasks)[number];
const clientAttempts = ["register", "update", "remove"] as const;
export type ClientAttempt = (typeof clientAttempts)[number];

const shortText = (maxLength: number) => Type.String({ minLength: 1, maxLength });

/** An app's OAuth client as the marketplace describes it, with the names of RFC 7591. Others are ignored. */
export const receivedClientMetadata = Type.Object({
  client_id: url("Where the marketplace publishes it"),
  client_name: shortText(200),
  client_uri: Type.Optional(url("The app's web site")),
  logo_uri: Type.Optional(url("The app's icon")),
  policy_uri: Type.Optional(url("The app's privacy policy")),
  tos_uri: Type.Optional(url("The app's terms of service")),
  contacts: Type.Optional(Type.Array(shortText(320), { maxItems: 20 })),
  redirect_uris: Type.Optional(Type.Array(url("Exact redirect URI"), { maxItems: 50 })),
  grant_types: Type.Array(Type.Enum(["authorization_code", "refresh_token", "client_credentials"]), { maxItems: 3 }),
  response_types: Type.Optional(Type.Array(Type.Literal("code"), { maxItems: 1 })),
  token_endpoint_auth_method: Type.Enum(["none", "private_key_jwt"]),
  jwks_uri: Type.Optional(url("The app's public keys")),
  scope: Type.Optional(Type.String({ maxLength: 5_120 })),
  software_id: shortText(200),
  software_version: Type.Optional(shortText(200)),
});
export type ReceivedClientMetadata = Static<typeof receivedClientMetadata>;

export const appClientParams = Type.Object({ id: uuid("The client's id in this service") });

export const listAppClientsQuery = Type.Object({
  status: Type.Optional(Type.Enum([...clientStatuses], { description: "Only clients with this status" })),
  tasks: Type.Optional(Type.Boolean({ default: false, description: "Only clients that an operator has to act on" })),
  ...pageQuery.properties,
});
export type ListAppClientsQuery = Static<typeof listAppClientsQuery> & PageQuery;

export const appClientDto = Type.Object(
  {
    id: uuid("The client's id in this service"),
    appSlug: Type.String({ examples: ["northwind-scribe"] }),
    orgAlias: nullable(Type.String(), "The organisation that the client is for; null: all that have installed the app"),
    method: Type.Enum([...registrationMethods], {
      description:
        "`cimd`: the authorization server reads the client from the marketplace. `dcr`: this service registers it. `manual`: an operator does",
    }),
    status: Type.Enum([...clientStatuses], {
      description:
        "`uncertain`: a request to the authorization server may have had an effect; an operator has to look. `removing`: no organisation has the app any more, or other clients replace it",
    }),
    task: nullable(
      Type.Enum([...clientTasks]),
      "What an operator has to do at the authorization server, and then say here; null: nothing",
    ),
    clientId: nullable(Type.String(), "`client_id` at the authorization server; null until it is registered"),
    reason: nullable(Type.String(), "Why the client has this status or task"),
    attempt: nullable(
      Type.Enum([...clientAttempts]),
      "The request to the authorization server whose result isn't known",
    ),
    attemptedAt: nullable(instant("When that request was sent"), "null: none is in progress or uncertain"),
    metadata: nullable(
      Type.Unsafe<Record<string, unknown>>({ type: "object", additionalProperties: true }),
      "What to register, with the names of RFC 7591, as the marketplace last said; null: it has not said",
    ),
    createdAt: instant("Wanted since"),
    updatedAt: instant("Last changed"),
  },
  { $id: "AppClientDto", title: "AppClientDto" },
);
export type AppClientDto = Static<typeof appClientDto>;
export const appClientResponse = successResponse("AppClientResponse", Type.Ref("AppClientDto#"));
export const appClientsResponse = successResponse(
  "AppClientsResponse",
  Type.Object({
    items: Type.Array(Type.Ref("AppClientDto#")),
    next: nullable(Type.String(), "Cursor of the next page, for `after`; null on the last one"),
  }),
);
export const appClientDeletedResponse = successResponse("AppClientDeletedResponse", Type.Null());

const description = "`client_id` at the authorization server";
/** The characters of a client identifier: RFC 6749, appendix A.1. */
const clientId = Type.String({ minLength: 1, maxLength: 2_048, pattern: "^[ -~]+$", description });

export const putAppClientBody = Type.Object({ clientId }, { additionalProperties: false });
export type PutAppClientBody = Static<typeof putAppClientBody>;

export const findAppClientQuery = Type.Object({
  clientId: Type.String({ minLength: 1, maxLength: 2_048, pattern: noNulPattern, description }),
  orgAlias: Type.String({
    minLength: 1,
    maxLength: 64,
    pattern: noNulPattern,
    description: "The organisation whose data the token is for",
  }),
});
export type FindAppClientQuery = Static<typeof findAppClientQuery>;

export const appClientGrantDto = Type.Object(
  {
    active: Type.Boolean({ description: "Whether the client may have tokens for the organisation now" }),
    appSlug: nullable(Type.String(), "null if inactive"),
    subscriptionId: nullable(uuid("The organisation's subscription to the app"), "null if inactive"),
    fhirScopes: nullable(
      Type.String(),
      "The scopes of the app that the organisation has agreed to, separated by spaces: grant no others; null if inactive",
    ),
  },
  { $id: "AppClientGrantDto", title: "AppClientGrantDto" },
);
export type AppClientGrantDto = Static<typeof appClientGrantDto>;
export const appClientGrantResponse = successResponse("AppClientGrantResponse", Type.Ref("AppClientGrantDto#"));
