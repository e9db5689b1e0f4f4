import {
  type ClientGrantType,
  type ClientMetadata,
  clientGrantTypes,
  type ListingDraft,
} from "@ehr-marketplace/contracts";
import { splitScopes } from "./scopes.ts";

/** The fields of a draft that its client is made of. */
export type ClientDraft = Pick<
  ListingDraft,
  "name" | "version" | "audience" | "fhirScopes" | "oauth" | "websiteUrl" | "privacyPolicyUrl" | "termsUrl"
>;

export interface ClientSource {
  draft: ClientDraft;
  /** The URL at which the metadata is served. */
  clientId: string;
  appId: string;
  logoUri: string;
}

/**
 * The client of an app as RFC 7591 metadata, with its own URL as its identifier; undefined if the draft doesn't say how the app signs
 * in. It has registered members only.
 */
export function buildClientMetadata({ draft, clientId, appId, logoUri }: ClientSource): ClientMetadata | undefined {
  const { oauth, name = "", version, fhirScopes = "", websiteUrl, privacyPolicyUrl, termsUrl } = draft;
  const grantTypes = findGrantTypes(draft);
  if (oauth === undefined || grantTypes.length === 0) return undefined;
  const { redirectUris = [], contacts = [], jwksUri } = oauth;
  const isAsymmetric = oauth.type === "ASYMMETRIC";
  return {
    client_id: clientId,
    client_name: name,
    ...(websiteUrl === undefined ? {} : { client_uri: websiteUrl }),
    logo_uri: logoUri,
    ...(privacyPolicyUrl === undefined ? {} : { policy_uri: privacyPolicyUrl }),
    ...(termsUrl === undefined ? {} : { tos_uri: termsUrl }),
    ...(contacts.length === 0 ? {} : { contacts }),
    redirect_uris: redirectUris,
    grant_types: grantTypes,
    response_types: grantTypes.includes("authorization_code") ? ["code"] : [],
    token_endpoint_auth_method: isAsymmetric ? "private_key_jwt" : "none",
    ...(isAsymmetric && jwksUri !== undefined ? { jwks_uri: jwksUri } : {}),
    scope: fhirScopes,
    software_id: appId,
    ...(version === undefined ? {} : { software_version: version }),
  };
}

const longLived = new Set(["online_access", "offline_access"]);

/**
 * Those that the draft names or, if it names none, those that follow from it. An app without redirect URIs and without keys signs in
 * nowhere.
 */
export function findGrantTypes({ oauth = {}, audience, fhirScopes = "" }: ClientDraft): ClientGrantType[] {
  const { type, redirectUris = [], grantTypes = [] } = oauth;
  if (grantTypes.length > 0) return clientGrantTypes.filter((each) => grantTypes.includes(each));
  if (audience === "BACKEND" && type === "ASYMMETRIC") return ["client_credentials"];
  if (redirectUris.length === 0) return [];
  const refreshes = splitScopes(fhirScopes).some((scope) => longLived.has(scope));
  return refreshes ? ["authorization_code", "refresh_token"] : ["authorization_code"];
}

export const measureClientMetadata = (metadata: ClientMetadata): number =>
  new TextEncoder().encode(JSON.stringify(metadata)).length;
