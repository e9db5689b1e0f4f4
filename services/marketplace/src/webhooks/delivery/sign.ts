import type { Seal } from "@ehr-marketplace/service-kit/secrets";
import { signBody, standardHeaders } from "@ehr-marketplace/webhook-signature";
import { secretOwner as organisationSecretOwner } from "../../organisations/organisation.ts";
import { endpointSecretOwner, nextSecretOwner } from "../endpoints/endpoint.ts";
import type { ClaimedDelivery } from "./claim-store.ts";

interface LiveSecrets {
  /** Signs the spec's header. */
  first: string;
  all: string[];
}

function secretsOf(delivery: ClaimedDelivery, seal: Seal, now: Date): LiveSecrets {
  const { kind, recipient_id: id, sealed_secret, sealed_next_secret, promote_at } = delivery;
  if (kind === "ehr") {
    const secret = seal.open(sealed_secret, organisationSecretOwner(id));
    return { first: secret, all: [secret] };
  }
  const next = sealed_next_secret === null ? [] : [seal.open(sealed_next_secret, nextSecretOwner(id))];
  const [promoted] = promote_at !== null && promote_at <= now ? next : [];
  if (promoted !== undefined) return { first: promoted, all: [promoted] };
  const current = seal.open(sealed_secret, endpointSecretOwner(id));
  return { first: current, all: [current, ...next] };
}

/** What goes with the body: the spec's three headers, the attempt and the version, and those of Standard Webhooks. */
export function headersFor(delivery: ClaimedDelivery, seal: Seal, now: Date): Record<string, string> {
  const { first, all } = secretsOf(delivery, seal, now);
  return {
    "content-type": "application/json",
    "user-agent": "EHR-Marketplace/1",
    "x-marketplace-event": delivery.event,
    "x-marketplace-delivery-id": delivery.id,
    "x-marketplace-signature": signBody(delivery.payload, first),
    "x-marketplace-attempt": String(delivery.attempt),
    "x-marketplace-version": "1",
    ...standardHeaders({ id: delivery.id, timestamp: now, body: delivery.payload, secrets: all }),
  };
}
