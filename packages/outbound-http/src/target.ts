import { isIP } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { isAllowedAddress, isInNetworks } from "./addresses.ts";
import { dnsFailureFrom, Failure, type FailureReason, type Stage } from "./failure.ts";
import type { Resolve, ResolvedAddress } from "./resolver.ts";

/** Where a URL leads, as far as its text tells. */
export interface Target {
  origin: string;
  secure: boolean;
  /** A name or an address, the latter without brackets. */
  hostname: string;
  port: number;
  path: string;
}

/** Normalises every spelling of an address, such as 0x7f.1. Throws a `Failure` if requests can't be sent to the URL. */
export function parseTarget(text: string): Target {
  const url = URL.parse(text);
  const isUsable = url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
  if (!isUsable || url.port === "0") throw new Failure("url-invalid");
  const secure = url.protocol === "https:";
  return {
    origin: url.origin,
    secure,
    hostname: url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname,
    port: Number(url.port || (secure ? 443 : 80)),
    path: url.pathname + url.search,
  };
}

async function resolveName(hostname: string, resolve: Resolve): Promise<ResolvedAddress[]> {
  try {
    return await resolve(hostname);
  } catch (error) {
    throw dnsFailureFrom(error as Error);
  }
}

/**
 * Returns the target's addresses if requests may go to every one of them. One address that isn't allowed refuses them
 * all: a name with a public and a private address is an attempt at DNS rebinding. Keeps `progress.stage` up to date.
 */
export async function resolveAllowedAddresses(
  { hostname, secure }: Target,
  allowedNetworks: readonly string[],
  resolve: Resolve,
  progress: { stage: Stage },
): Promise<ResolvedAddress[]> {
  progress.stage = "address";
  if (!secure && allowedNetworks.length === 0) throw new Failure("plain-http-not-allowed");
  const family = isIP(hostname);
  if (family === 0) progress.stage = "resolve";
  const addresses =
    family === 0
      ? await resolveName(hostname, resolve)
      : [{ address: hostname, family: family === 6 ? 6 : 4 } as const];
  if (addresses.length === 0) throw new Failure("dns-not-found");
  progress.stage = "address";
  if (!addresses.every(({ address }) => isAllowedAddress(address, allowedNetworks))) {
    throw new Failure("address-not-allowed");
  }
  if (!secure && !addresses.every(({ address }) => isInNetworks(address, allowedNetworks))) {
    throw new Failure("plain-http-not-allowed");
  }
  return addresses;
}

const refusals = ["url-invalid", "address-not-allowed", "plain-http-not-allowed"] as const satisfies FailureReason[];
export type Refusal = (typeof refusals)[number];

/** What to tell somebody whose URL is stored although it is `unresolved`. */
export const unresolvedDetail =
  "has a host name that doesn't resolve now; correct it if it is misspelt, because nothing can be sent until it resolves";

/**
 * Returns why a request to this URL wouldn't be sent now, for validating a URL before it is stored. `unresolved` is no refusal: the name
 * has no address, or its servers don't respond within `timeoutMs`. It may be set up later, and addresses are checked at every connection
 * anyway.
 */
export async function checkTarget(
  url: string,
  allowedNetworks: readonly string[],
  resolve: Resolve,
  timeoutMs = 2_000,
): Promise<Refusal | "unresolved" | undefined> {
  const timer = new AbortController();
  try {
    const addresses = resolveAllowedAddresses(parseTarget(url), allowedNetworks, resolve, { stage: "address" });
    const found = await Promise.race([addresses, delay(timeoutMs, undefined, { signal: timer.signal })]);
    return found === undefined ? "unresolved" : undefined;
  } catch (error) {
    if (error instanceof Failure) return refusals.find((refusal) => refusal === error.reason) ?? "unresolved";
    throw error;
  } finally {
    timer.abort();
  }
}
