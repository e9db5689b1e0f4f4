import { setTimeout as delay } from "node:timers/promises";
import { admittedAddresses, type Resolve } from "./admitted-addresses.ts";
import { Failure, type FailureReason } from "./failure.ts";
import { readTarget } from "./target.ts";

const refusals = ["url-invalid", "address-not-allowed", "plain-http-not-allowed"] as const satisfies FailureReason[];
export type Refusal = (typeof refusals)[number];

/**
 * Why a request to this URL would be refused now. Undefined when it would be sent, and when the name doesn't resolve in time: the name
 * may be set up later, and its addresses are checked at every connection.
 */
export async function findRefusal(
  url: string,
  allowedNetworks: readonly string[],
  resolve: Resolve,
  withinMs = 2_000,
): Promise<Refusal | undefined> {
  const known = new AbortController();
  try {
    const progress = { stage: "address" as const, isDone: false, abort: () => {} };
    const admitted = admittedAddresses(readTarget(url), allowedNetworks, resolve, progress);
    await Promise.race([admitted, delay(withinMs, undefined, { signal: known.signal })]);
    return undefined;
  } catch (error) {
    if (error instanceof Failure) return refusals.find((each) => each === error.reason);
    throw error;
  } finally {
    known.abort();
  }
}
