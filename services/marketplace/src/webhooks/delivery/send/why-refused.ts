import { setTimeout as delay } from "node:timers/promises";
import { admittedAddresses, type Resolve } from "./admitted-addresses.ts";
import { Failure, type FailureReason } from "./failure.ts";
import { readTarget } from "./target.ts";

const refusals = ["url-invalid", "address-not-allowed", "plain-http-not-allowed"] as const satisfies FailureReason[];
export type Refusal = (typeof refusals)[number];

/**
 * Why a request to this URL would be refused if it went out now. Nothing where it would go, and where nobody can tell
 * soon: a name may be set up later, and its addresses are checked at every connection anyway.
 */
export async function whyRefused(
  url: string,
  allowedNetworks: readonly string[],
  resolve: Resolve,
  withinMs = 2_000,
): Promise<Refusal | undefined> {
  const known = new AbortController();
  try {
    const course = { stage: "address" as const, over: false, halt: () => {} };
    const admitted = admittedAddresses(readTarget(url), allowedNetworks, resolve, course);
    await Promise.race([admitted, delay(withinMs, undefined, { signal: known.signal })]);
    return undefined;
  } catch (error) {
    if (error instanceof Failure) return refusals.find((each) => each === error.reason);
    throw error;
  } finally {
    known.abort();
  }
}
