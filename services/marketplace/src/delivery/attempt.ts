import type { OutboundClient } from "@ehr-marketplace/outbound-http";
import type { Encryption } from "@ehr-marketplace/service-kit/secrets";
import { type AttemptResult, toAttemptResult } from "./attempt-result.ts";
import { buildHeaders } from "./build-headers.ts";
import type { ClaimedDelivery } from "./claim-store.ts";

export interface AttemptDeps {
  encryption: Encryption;
  outboundClient: OutboundClient;
  /** Networks, besides public ones, in which vendors' endpoints are allowed. */
  vendorNetworks: string[];
  clock: () => Date;
}

/**
 * Sends one request. Every error becomes a failed attempt with its reason. Sends nothing and returns undefined if the worker no longer owns
 * the delivery: it may have been frozen since the claim, for example while it signed, and another worker may have taken the delivery over.
 */
export async function attempt(
  { encryption, outboundClient, vendorNetworks, clock }: AttemptDeps,
  delivery: ClaimedDelivery,
  isOwner: () => boolean,
): Promise<AttemptResult | undefined> {
  const startedAt = performance.now();
  try {
    const allowedNetworks = delivery.kind === "ehr" ? (delivery.networks ?? []) : vendorNetworks;
    const headers = buildHeaders(delivery, encryption, clock());
    if (!isOwner()) return undefined;
    return toAttemptResult(
      await outboundClient.request({ url: delivery.url, headers, body: delivery.payload, allowedNetworks }),
    );
  } catch (error) {
    const errorName = error instanceof Error ? error.name : "Error";
    return {
      outcome: "failed",
      statusCode: null,
      error: `prepare: ${errorName}`,
      snippet: null,
      durationMs: Math.round(performance.now() - startedAt),
      retryAfterMs: null,
      gone: false,
      reachability: "unknown",
    };
  }
}
