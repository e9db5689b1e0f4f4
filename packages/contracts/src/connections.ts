import { type Static, Type } from "typebox";
import { noNulPattern } from "./catalog-requests.ts";
import { instant, nullable, url, webUrlPattern } from "./wire-types.ts";

/** A client's metadata has at most this many bytes as JSON: the limit of Client ID Metadata Documents. */
export const maxClientMetadataBytes = 5_120;

export const clientGrantTypes = ["authorization_code", "refresh_token", "client_credentials"] as const;
export type ClientGrantType = (typeof clientGrantTypes)[number];

/** An app's OAuth client: members of RFC 7591 only, so that it can be sent to any registration endpoint as it is. */
export const clientMetadata = Type.Object(
  {
    client_id: url(
      "The URL of this document: the client's identifier where the authorization server fetches documents",
    ),
    client_name: Type.String({ description: "The app's name" }),
    client_uri: Type.Optional(url("The app's site")),
    logo_uri: url("The app's icon"),
    policy_uri: Type.Optional(url("Privacy policy")),
    tos_uri: Type.Optional(url("Terms of service")),
    contacts: Type.Optional(
      Type.Array(Type.String(), { description: "Email addresses of those responsible for the client" }),
    ),
    redirect_uris: Type.Array(url("Redirect URI"), {
      description:
        "Where the authorization server may send users back to, compared exactly; empty for backend services",
    }),
    grant_types: Type.Array(Type.Enum([...clientGrantTypes]), { minItems: 1 }),
    response_types: Type.Array(Type.Enum(["code"]), { description: "Empty for backend services" }),
    token_endpoint_auth_method: Type.Enum(["none", "private_key_jwt"], {
      description: "`none`: a public client, which uses PKCE. `private_key_jwt`: with a key of `jwks_uri`",
    }),
    jwks_uri: Type.Optional(url("Where the app's public keys are; with `private_key_jwt` only")),
    scope: Type.String({
      description: "All scopes of the app, separated by spaces. An organisation may have agreed to fewer",
    }),
    software_id: Type.String({ format: "uuid", description: "The app's identifier" }),
    software_version: Type.Optional(Type.String({ description: "The app's version" })),
  },
  { $id: "ClientMetadata", title: "ClientMetadata" },
);
export type ClientMetadata = Static<typeof clientMetadata>;

export const connectionStatuses = ["pending", "ready", "failed"] as const;
export type ConnectionStatus = (typeof connectionStatuses)[number];

/** The characters of a client identifier: RFC 6749, appendix A.1. */
export const clientIdPattern = "^[ -~]+$";

const status = Type.Enum([...connectionStatuses], {
  description:
    "`pending`: the EHR's authorization server doesn't know the app's client yet. `ready`: the app can sign in. `failed`: it can't; `reason` says why",
});
const clientId = Type.String({ minLength: 1, maxLength: 2_048, pattern: clientIdPattern });
const fhirBaseUrl = Type.String({ format: "uri", pattern: webUrlPattern, maxLength: 2_048 });
const clientIdMeaning = "The app's client identifier at the EHR's authorization server";
const fhirBaseUrlMeaning = "Base URL of the organisation's FHIR server, which is `iss` of a SMART launch";
const reasonMeaning = "Why the app can't sign in yet, for the vendor; no data of users or patients";

export const putConnectionBody = Type.Object(
  {
    status,
    clientId: Type.Optional(nullable(clientId, `${clientIdMeaning}. Required if \`ready\``)),
    fhirBaseUrl: Type.Optional(nullable(fhirBaseUrl, `${fhirBaseUrlMeaning}. Required if \`ready\``)),
    reason: Type.Optional(
      nullable(Type.String({ maxLength: 500, pattern: noNulPattern }), `${reasonMeaning}. Required if \`failed\``),
    ),
  },
  { additionalProperties: false },
);
export type PutConnectionBody = Static<typeof putConnectionBody>;

/** What an EHR has said last, as events have it. */
export const connectionState = {
  status,
  clientId: nullable(Type.String(), `${clientIdMeaning}; null if it isn't known yet`),
  fhirBaseUrl: nullable(Type.String({ format: "uri" }), `${fhirBaseUrlMeaning}; null if it isn't known yet`),
  reason: nullable(
    Type.String(),
    "Why the app can't sign in or, if `ready`, why a change of its client isn't registered yet; null if there is nothing to say",
  ),
};

export const connectionDto = Type.Object(
  {
    ...connectionState,
    updatedAt: nullable(instant("Last changed"), "null before the EHR has reported"),
  },
  { $id: "ConnectionDto", title: "ConnectionDto" },
);
export type ConnectionDto = Static<typeof connectionDto>;
export type ConnectionState = Omit<ConnectionDto, "updatedAt">;
