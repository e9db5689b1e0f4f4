import { isIP } from "node:net";
import { isAllowedAddress, isInNetworks } from "@ehr-marketplace/outbound-http/addresses";

/** Every event may be sent to every endpoint of the vendor, so this limits the deliveries per event. */
export const maxEndpointsPerVendor = 20;

/** How long both secrets are used to sign, unless the vendor promotes the next one earlier. */
export const rotationMs: number = 24 * 3_600_000;

/** Associated data of an endpoint's encrypted secrets; a promoted secret is re-encrypted with that of the current one. */
export const endpointSecretOwner = (id: string): string => `webhook_endpoints/${id}/secret`;
export const nextSecretOwner = (id: string): string => `webhook_endpoints/${id}/next-secret`;

/** False from `promote_at` on, also before the next secret is stored as the current one. */
export function isRotating({ promote_at }: { promote_at: Date | null }, now: Date): boolean {
  return promote_at !== null && promote_at > now;
}

/** Why the URL can't be an endpoint's, or undefined. Host names are not resolved here. */
export function findUrlError(text: string, allowedNetworks: readonly string[]): string | undefined {
  const url = URL.parse(text);
  if (url === null) return "is not a URL";
  // Checked in the text: the parser also accepts https:host.
  if (!/^https?:\/\/[^/]/.test(text)) {
    return `must begin with https://${allowedNetworks.length > 0 ? ", or with http:// at an address in an allowed network" : ""}`;
  }
  // Checked in the text: the parser doesn't distinguish https://:@host from https://host.
  if (/^https?:\/\/[^/?#]*@/.test(text)) return "must contain no user name and no password";
  if (text.includes("#")) return "must have no fragment";
  if (url.port === "0") return "must have a port that can be connected to";
  const address = url.hostname.replace(/^\[|\]$/g, "");
  const isAddress = isIP(address) !== 0;
  if (url.protocol === "http:" && !(isAddress ? isInNetworks(address, allowedNetworks) : allowedNetworks.length > 0)) {
    return "must begin with https://";
  }
  if (isAddress && !isAllowedAddress(address, allowedNetworks)) return "must have a public address";
  return undefined;
}
