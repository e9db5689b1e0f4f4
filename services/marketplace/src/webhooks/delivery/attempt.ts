import type { Seal } from "@ehr-marketplace/service-kit/secrets";
import type { ClaimedDelivery } from "./claim-store.ts";
import { judge, type Verdict } from "./judge.ts";
import type { Sender } from "./send/sender.ts";
import { headersFor } from "./sign.ts";

export interface Attempting {
  seal: Seal;
  sender: Sender;
  /** Networks that vendors' endpoints may be in besides public ones. */
  vendorNetworks: string[];
  clock: () => Date;
}

/** The request and its verdict. Whatever goes wrong is a failed attempt with its reason. */
export async function attempt(
  { seal, sender, vendorNetworks, clock }: Attempting,
  delivery: ClaimedDelivery,
): Promise<Verdict> {
  const began = performance.now();
  try {
    const allowedNetworks = delivery.kind === "ehr" ? (delivery.networks ?? []) : vendorNetworks;
    const headers = headersFor(delivery, seal, clock());
    return judge(await sender.send({ url: delivery.url, headers, body: delivery.payload, allowedNetworks }));
  } catch (error) {
    const why = error instanceof Error ? error.name : "Error";
    return {
      outcome: "failed",
      statusCode: null,
      error: `prepare: ${why}`,
      snippet: null,
      durationMs: Math.round(performance.now() - began),
      retryAfterMs: null,
      gone: false,
    };
  }
}
