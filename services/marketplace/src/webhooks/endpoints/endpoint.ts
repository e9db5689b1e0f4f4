import { isIP } from "node:net";
import { isAdmitted, isWithin } from "@ehr-marketplace/service-kit/addresses";

/** Each hears every event of its vendor: their number is what one event costs. */
export const mostEndpoints = 20;

/** How long both secrets sign, unless the vendor promotes the next one earlier. */
export const rotationMs: number = 24 * 3_600_000;

/** Name the places that an endpoint's sealed secrets belong to: one that is promoted is sealed again. */
export const endpointSecretOwner = (id: string): string => `webhook_endpoints/${id}/secret`;
export const nextSecretOwner = (id: string): string => `webhook_endpoints/${id}/next-secret`;

/** A next secret takes over when its time comes, whether or not anybody has moved it yet. */
export function isRotating({ promote_at }: { promote_at: Date | null }, now: Date): boolean {
  return promote_at !== null && promote_at > now;
}

/** Why nothing can be sent to this URL, or nothing where it can. Names are judged by their addresses. */
export function whyNoEndpoint(text: string, allowedNetworks: readonly string[]): string | undefined {
  const url = URL.parse(text);
  if (url === null) return "is not a URL";
  // Held against the text: the parser would take https:host for the same.
  if (!/^https?:\/\/[^/]/.test(text)) return "must begin with https://";
  // The parser shows no difference between https://:@host and https://host.
  if (/^https?:\/\/[^/?#]*@/.test(text)) return "must hold no user name and no password";
  if (text.includes("#")) return "must have no fragment: it would not be sent";
  if (url.port === "0") return "must have a port that can be connected to";
  const address = url.hostname.replace(/^\[|\]$/g, "");
  const isAddress = isIP(address) !== 0;
  if (url.protocol === "http:" && !(isAddress ? isWithin(address, allowedNetworks) : allowedNetworks.length > 0)) {
    return "must begin with https://";
  }
  if (isAddress && !isAdmitted(address, allowedNetworks)) return "must have a public address";
  return undefined;
}
