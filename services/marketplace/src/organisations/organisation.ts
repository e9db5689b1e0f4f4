import { isIP } from "node:net";
import { isAdmitted, isWithin } from "@ehr-marketplace/service-kit/addresses";

/** Names the row that a sealed secret belongs to. */
export const secretOwner = (id: string): string => `organisations/${id}/secret`;

export const httpsOnly =
  "must begin with https://, except where callbackNetworks names the private network that it is in";

/** A path that begins with a slash is appended to it. */
export function withoutTrailingSlashes(url: string): string {
  let end = url.length;
  while (url[end - 1] === "/") end -= 1;
  return url.slice(0, end);
}

/** Why this URL can't be an organisation's callback, or nothing where it can. Names are judged by their addresses. */
export function whyNoCallback(callbackUrl: string, networks: readonly string[]): string | undefined {
  if (!URL.canParse(callbackUrl)) return "is not a URL";
  // Held against the text, because that is what a path is added to: the parser would take https:host and HTTPS://host
  // for the same, and drop a query that is empty.
  if (!/^https?:\/\/[^/]/.test(callbackUrl)) return "must begin with https:// or http://";
  const url = new URL(callbackUrl);
  if (url.port === "0") return "must have a port that can be connected to";
  // The parser shows no difference between https://:@host and https://host.
  if (/^https?:\/\/[^/?#]*@/.test(callbackUrl)) return "must hold no user name and no password";
  if (/[?#]/.test(callbackUrl)) return "must have neither a query nor a fragment: a path is added to it";
  const address = url.hostname.replace(/^\[|\]$/g, "");
  const isAddress = isIP(address) !== 0;
  if (url.protocol === "http:" && (isAddress ? !isWithin(address, networks) : networks.length === 0)) {
    return httpsOnly;
  }
  if (isAddress && !isAdmitted(address, networks)) {
    return "has an address that is neither public nor in callbackNetworks";
  }
  return undefined;
}
