import type { ReceivedClientMetadata } from "@ehr-marketplace/contracts";

/** What is sent to the registration endpoint. */
export type RequestedMetadata = Omit<ReceivedClientMetadata, "client_id">;

export interface Difference {
  reason: string;
  /** Whether only scopes differ: what a token may have is decided when it is issued. Redirect URIs decide who receives codes. */
  isSafe: boolean;
}

/**
 * Compares what the authorization server says it has registered with what was requested; undefined if it is the same. A server may change any
 * value (RFC 7591, section 3.2.1). With other redirect URIs, scopes or another way to authenticate, the app can't sign in, or somebody else
 * can. A member that the response leaves out counts as registered.
 */
export function compareRegistered(requested: RequestedMetadata, registered: object): Difference | undefined {
  const response = registered as Record<string, unknown>;
  const differing: string[] = [];
  const { redirect_uris: uris, scope, token_endpoint_auth_method: method } = response;
  if (uris !== undefined && !isSameSet(uris, requested.redirect_uris ?? [])) differing.push("redirect_uris");
  if (scope !== undefined && !isSameSet(splitScope(scope), splitScope(requested.scope ?? ""))) differing.push("scope");
  if (method !== undefined && method !== requested.token_endpoint_auth_method) {
    differing.push("token_endpoint_auth_method");
  }
  if (differing.length === 0) return undefined;
  const reason = `The authorization server registered other values than requested for: ${differing.join(", ")}.`;
  return { reason, isSafe: differing.every((name) => name === "scope") };
}

/** Whether a client that was read has every value that was requested. One that the response leaves out may be the earlier one. */
export function hasAllValues(requested: RequestedMetadata, registered: object): boolean {
  const response = registered as Record<string, unknown>;
  return Object.entries(requested).every(([name, value]) => {
    if (name === "scope") return isSameSet(splitScope(response[name]), splitScope(value));
    return Array.isArray(value) ? isSameSet(response[name], value) : response[name] === value;
  });
}

/** `openid` is no scope of FHIR: some servers have it for every client, and don't say so. */
const splitScope = (scope: unknown): unknown =>
  typeof scope === "string" ? scope.split(" ").filter((each) => each !== "" && each !== "openid") : scope;

function isSameSet(one: unknown, other: unknown): boolean {
  if (!Array.isArray(one) || !Array.isArray(other)) return false;
  return new Set<unknown>(one).symmetricDifference(new Set<unknown>(other)).size === 0;
}
