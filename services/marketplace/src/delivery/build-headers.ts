import type { Encryption } from "@ehr-marketplace/service-kit/secrets";
import { signBody, standardHeaders } from "@ehr-marketplace/webhook-signature";
import { endpointSecretOwner, nextSecretOwner } from "../endpoints/endpoint.ts";
import { secretOwner as organisationSecretOwner } from "../organisations/organisation.ts";
import type { ClaimedDelivery } from "./claim-store.ts";

interface SigningSecrets {
  /** Signs `X-Marketplace-Signature`. */
  first: string;
  all: string[];
}

function decryptSecrets(delivery: ClaimedDelivery, encryption: Encryption, now: Date): SigningSecrets {
  const { kind, recipient_id: id, encrypted_secret, encrypted_next_secret, promote_at } = delivery;
  if (kind === "ehr") {
    const secret = encryption.decrypt(encrypted_secret, organisationSecretOwner(id));
    return { first: secret, all: [secret] };
  }
  const next = encrypted_next_secret === null ? [] : [encryption.decrypt(encrypted_next_secret, nextSecretOwner(id))];
  const [promoted] = promote_at !== null && promote_at <= now ? next : [];
  if (promoted !== undefined) return { first: promoted, all: [promoted] };
  const current = encryption.decrypt(encrypted_secret, endpointSecretOwner(id));
  return { first: current, all: [current, ...next] };
}

/** The headers of the specification, the attempt, the version, the mark of a sandbox, and the headers of Standard Webhooks. */
export function buildHeaders(delivery: ClaimedDelivery, encryption: Encryption, now: Date): Record<string, string> {
  const { first, all } = decryptSecrets(delivery, encryption, now);
  return {
    "content-type": "application/json",
    "user-agent": "EHR-Marketplace/1",
    "x-marketplace-event": delivery.event,
    "x-marketplace-delivery-id": delivery.id,
    "x-marketplace-signature": signBody(delivery.payload, first),
    "x-marketplace-attempt": String(delivery.attempt),
    "x-marketplace-version": "1",
    ...(delivery.sandbox ? { "x-marketplace-sandbox": "true" } : {}),
    ...standardHeaders({ id: delivery.id, timestamp: now, body: delivery.payload, secrets: all }),
  };
}
