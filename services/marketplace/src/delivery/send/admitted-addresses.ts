import { isIP } from "node:net";
import { isAllowedAddress, isInNetworks } from "@ehr-marketplace/service-kit/addresses";
import { dnsFailureFrom, Failure } from "./failure.ts";
import type { RequestProgress } from "./send-result.ts";
import type { Target } from "./target.ts";

export interface ResolvedAddress {
  address: string;
  family: 4 | 6;
}

export type Resolve = (hostname: string) => Promise<ResolvedAddress[]>;

async function resolved(hostname: string, resolve: Resolve): Promise<ResolvedAddress[]> {
  try {
    return await resolve(hostname);
  } catch (error) {
    throw dnsFailureFrom(error as Error);
  }
}

/**
 * The target's addresses, if requests to all of them are allowed. One address that is not allowed refuses the target:
 * a name with both a public and a private address is suspicious.
 */
export async function admittedAddresses(
  { hostname, secure }: Target,
  allowedNetworks: readonly string[],
  resolve: Resolve,
  progress: RequestProgress,
): Promise<ResolvedAddress[]> {
  progress.stage = "address";
  if (!secure && allowedNetworks.length === 0) throw new Failure("plain-http-not-allowed");
  const literal = isIP(hostname);
  if (literal === 0) progress.stage = "resolve";
  const addresses =
    literal === 0 ? await resolved(hostname, resolve) : [{ address: hostname, family: literal === 6 ? 6 : 4 } as const];
  if (addresses.length === 0) throw new Failure("dns-not-found");
  progress.stage = "address";
  if (!addresses.every(({ address }) => isAllowedAddress(address, allowedNetworks)))
    throw new Failure("address-not-allowed");
  if (!secure && !addresses.every(({ address }) => isInNetworks(address, allowedNetworks))) {
    throw new Failure("plain-http-not-allowed");
  }
  return addresses;
}
