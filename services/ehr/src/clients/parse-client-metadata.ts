import { createHash } from "node:crypto";
import {
  isSandboxSlug,
  maxClientMetadataBytes,
  type ReceivedClientMetadata,
  receivedClientMetadata,
} from "@ehr-marketplace/contracts";
import { isPublicHost } from "@ehr-marketplace/listing-rules/public-host";
import { findUnstorable } from "@ehr-marketplace/service-kit/http";
import { createValidator } from "../create-validator.ts";

export interface ParsedMetadata {
  clientId: string;
  /** JSON with the members that this service knows, in a fixed order. */
  text: string;
  sha256: string;
}

export type ParseClientMetadata = (value: unknown, appSlug: string) => ParsedMetadata | { error: string };

const members = Object.keys(receivedClientMetadata.properties) as (keyof ReceivedClientMetadata)[];
/** Where the authorization server sends codes, and from where it fetches keys. */
const isFollowed = (pointer: string): boolean => pointer.startsWith("/redirect_uris/") || pointer === "/jwks_uri";
const urls = ["client_id", "client_uri", "logo_uri", "policy_uri", "tos_uri", "jwks_uri"] as const;

/**
 * Validates an app's client metadata from the marketplace before it goes to an authorization server. The marketplace has checked it too: what
 * it missed would let somebody else receive authorization codes.
 */
export function createClientMetadataParser({ allowsHttp }: { allowsHttp: boolean }): ParseClientMetadata {
  const validate = createValidator<ReceivedClientMetadata>(receivedClientMetadata);
  const findError = (metadata: ReceivedClientMetadata, appSlug: string): string | undefined => {
    const given = [
      ...urls.map((name) => [`/${name}`, metadata[name]] as const),
      ...(metadata.redirect_uris ?? []).map((uri, index) => [`/redirect_uris/${index}`, uri] as const),
    ];
    for (const [pointer, url] of given) {
      if (url === undefined) continue;
      const parsed = URL.parse(url);
      if (parsed === null) return `${pointer} is not a URL`;
      if (!allowsHttp && parsed.protocol !== "https:") return `${pointer} must begin with https://`;
      if (!allowsHttp && isFollowed(pointer) && !isPublicHost(parsed)) return `${pointer} has no public host name`;
      if (parsed.username !== "" || parsed.password !== "") return `${pointer} contains user information`;
      const isLoose = /[#*]|%2a/i.test(url) || parsed.hostname.includes("*");
      if (pointer.startsWith("/redirect") && isLoose) return `${pointer} contains a fragment or a wildcard`;
    }
    const collection = isSandboxSlug(appSlug) ? "sandbox-apps" : "apps";
    // A document names itself: otherwise one app could have the client of another.
    if (!new URL(metadata.client_id).pathname.endsWith(`/${collection}/${appSlug}/client`)) {
      return "/client_id is not of this app";
    }
    const isPublic = metadata.token_endpoint_auth_method === "none";
    if (!isPublic && metadata.jwks_uri === undefined) return "/jwks_uri is missing";
    const redirects = metadata.grant_types.includes("authorization_code");
    if (redirects && (metadata.redirect_uris ?? []).length === 0) return "/redirect_uris is empty";
    return findUnstorable(metadata, "metadata")?.detail;
  };
  return (value, appSlug) => {
    const result = validate(value);
    if ("error" in result) return result;
    const error = findError(result.value, appSlug);
    if (error !== undefined) return { error };
    const known = members.flatMap((name) => (result.value[name] === undefined ? [] : [[name, result.value[name]]]));
    const text = JSON.stringify(Object.fromEntries(known));
    if (Buffer.byteLength(text) > maxClientMetadataBytes) return { error: "it has more than 5 KiB" };
    return { clientId: result.value.client_id, text, sha256: createHash("sha256").update(text).digest("hex") };
  };
}
