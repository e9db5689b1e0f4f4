import { isIP } from "node:net";
import { isAllowedAddress, isInNetworks } from "@ehr-marketplace/outbound-http/addresses";

/** Binds an encrypted secret to its row, as additional authenticated data. */
export const secretOwner = (id: string): string => `organisations/${id}/secret`;

export const httpsOnly =
  "must begin with https://, except where callbackNetworks names the private network that it is in";

export const defaultTimeZone = "UTC";

/** Whether it is the name of a time zone that the runtime knows. It also takes offsets such as +01:00, which don't follow a summer time. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** The path that is appended to the callback URL begins with a slash. */
export function withoutTrailingSlashes(url: string): string {
  let end = url.length;
  while (url[end - 1] === "/") end -= 1;
  return url.slice(0, end);
}

/** Returns why the URL can't be a callback, or undefined if it can. Host names aren't resolved here. */
export function findCallbackError(callbackUrl: string, networks: readonly string[]): string | undefined {
  if (!URL.canParse(callbackUrl)) return "is not a URL";
  // Check the text, because the path is appended to the text: the parser accepts https:host and HTTPS://host, and drops an
  // empty query.
  if (!/^https?:\/\/[^/]/.test(callbackUrl)) return "must begin with https:// or http://";
  const url = new URL(callbackUrl);
  if (url.port === "0") return "must have a port that can be connected to";
  // The parser doesn't distinguish https://:@host from https://host.
  if (/^https?:\/\/[^/?#]*@/.test(callbackUrl)) return "must not contain a user name or password";
  if (/[?#]/.test(callbackUrl)) return "must not have a query or fragment, because a path is appended to it";
  if (/\/api(\/internal(\/marketplace-webhook)?)?$/.test(url.pathname)) {
    return "must be the EHR's base URL, because /api/internal/marketplace-webhook is appended to it; leave out /api and what follows";
  }
  const address = url.hostname.replace(/^\[|\]$/g, "");
  const isAddress = isIP(address) !== 0;
  if (url.protocol === "http:" && (isAddress ? !isInNetworks(address, networks) : networks.length === 0)) {
    return httpsOnly;
  }
  if (isAddress && !isAllowedAddress(address, networks)) {
    return "has an address that is neither public nor in callbackNetworks";
  }
  return undefined;
}
