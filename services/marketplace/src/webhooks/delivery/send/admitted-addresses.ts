import { isIP } from "node:net";
import { isAdmitted, isWithin } from "@ehr-marketplace/service-kit/addresses";
import { dnsFailureFrom, Failure } from "./failure.ts";
import type { Course } from "./sent.ts";
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
 * Where the target is, if requests of ours may go to each of its addresses. One that is not admitted refuses them all:
 * a name with a public and a private address is no honest receiver's.
 */
export async function admittedAddresses(
  { hostname, secure }: Target,
  allowedNetworks: readonly string[],
  resolve: Resolve,
  course: Course,
): Promise<ResolvedAddress[]> {
  course.stage = "address";
  if (!secure && allowedNetworks.length === 0) throw new Failure("plain-http-not-allowed");
  const literal = isIP(hostname);
  if (literal === 0) course.stage = "resolve";
  const addresses =
    literal === 0 ? await resolved(hostname, resolve) : [{ address: hostname, family: literal === 6 ? 6 : 4 } as const];
  if (addresses.length === 0) throw new Failure("dns-not-found");
  course.stage = "address";
  if (!addresses.every(({ address }) => isAdmitted(address, allowedNetworks))) throw new Failure("address-not-allowed");
  if (!secure && !addresses.every(({ address }) => isWithin(address, allowedNetworks))) {
    throw new Failure("plain-http-not-allowed");
  }
  return addresses;
}
