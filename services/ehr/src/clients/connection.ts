import type { InstallationDto } from "@ehr-marketplace/contracts";
import type { ClientState } from "./client.ts";

type Client = Pick<ClientState, "status" | "clientId" | "registeredSha256" | "attempt" | "reason">;
export type Connection = NonNullable<InstallationDto["connection"]>;

/**
 * Whether the client may have tokens. One whose update is uncertain is registered as before: whether it may is decided by the installation
 * and its scopes, and every practice would lose the app otherwise. One that was updated with other values may have somebody else's redirect URIs.
 */
export const isUsable = ({ status, clientId, registeredSha256, attempt }: Client): boolean =>
  clientId !== null &&
  (status === "ready" || (status === "uncertain" && attempt === "update" && registeredSha256 !== null));

const toCheck = "The EHR's operator has to check the client at the authorization server.";

/** What members of organisations and the vendor are told. What an operator has to look for isn't for them. */
export function connectionOf(client: Client): Connection {
  const { status, clientId, reason } = client;
  if (isUsable(client)) return { status: "ready", clientId, reason: status === "uncertain" ? toCheck : reason };
  if (status === "uncertain") return { status: "failed", clientId: null, reason: toCheck };
  return { status: status === "failed" ? "failed" : "pending", clientId: null, reason };
}
