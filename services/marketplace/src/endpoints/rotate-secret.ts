import type { WebhookEndpointDto } from "@ehr-marketplace/contracts";
import { invalidRequest, Problem } from "@ehr-marketplace/service-kit/http";
import type { Encryption } from "@ehr-marketplace/service-kit/secrets";
import type { VendorContext } from "../access/vendor-context.ts";
import type { IdempotentRequest } from "../idempotency/run-idempotently.ts";
import { requireUsableSecret } from "../secrets/signing-secret.ts";
import { type Change, type EndpointDeps, recordChange, withEndpoint } from "./change-endpoint.ts";
import { endpointSecretOwner, isRotating, nextSecretOwner, rotationMs } from "./endpoint.ts";
import { endpointProblems } from "./endpoint-errors.ts";
import { endpointRecord } from "./endpoint-record.ts";
import { type EndpointRow, updateEndpoint } from "./endpoint-store.ts";

type Secrets = Pick<EndpointRow, "encrypted_secret" | "encrypted_next_secret" | "promote_at">;

/** Makes the next secret the current one. Its associated data changes, so it is decrypted and encrypted once more. */
export function promoteNextSecret(
  encryption: Encryption,
  { id, encrypted_secret, encrypted_next_secret }: EndpointRow,
): Secrets {
  const none = { encrypted_next_secret: null, promote_at: null };
  if (encrypted_next_secret === null) return { encrypted_secret, ...none };
  const secret = encryption.decrypt(encrypted_next_secret, nextSecretOwner(id));
  return { encrypted_secret: encryption.encrypt(secret, endpointSecretOwner(id)), ...none };
}

async function changeSecrets(change: Change, action: string, secrets: Secrets): Promise<WebhookEndpointDto> {
  const { transaction, row, now, at } = change;
  await updateEndpoint(transaction, row.id, { ...secrets, updated_at: at });
  const changed = endpointRecord({ ...row, ...secrets }, now);
  await recordChange(change, action, changed);
  return changed;
}

/** Adds a next secret, which signs in addition to the current one. Replaces a next secret that is not promoted yet. */
export async function rotateSecret(
  deps: EndpointDeps,
  by: VendorContext,
  id: string,
  secret: string,
  repeatable: IdempotentRequest,
): Promise<WebhookEndpointDto> {
  requireUsableSecret(secret);
  const rotate = async (change: Change): Promise<WebhookEndpointDto> => {
    const { row, now } = change;
    // From `promote_at` on the next secret signs, so it must become the current one before it is replaced.
    const { encrypted_secret } = isRotating(row, now) ? row : promoteNextSecret(deps.encryption, row);
    if (deps.encryption.decrypt(encrypted_secret, endpointSecretOwner(row.id)) === secret) {
      throw invalidRequest("/body/secret", "is the endpoint's current secret; the next one must be another");
    }
    return changeSecrets(change, "rotate-secret", {
      encrypted_secret,
      encrypted_next_secret: deps.encryption.encrypt(secret, nextSecretOwner(row.id)),
      promote_at: new Date(now.getTime() + rotationMs),
    });
  };
  return withEndpoint(deps, by, id, rotate, repeatable);
}

export async function promoteSecret(
  deps: EndpointDeps,
  by: VendorContext,
  id: string,
  repeatable: IdempotentRequest,
): Promise<WebhookEndpointDto> {
  const promote = async (change: Change): Promise<WebhookEndpointDto> => {
    if (!isRotating(change.row, change.now)) {
      throw new Problem(endpointProblems.noRotation, "The endpoint has no next secret to promote.");
    }
    return changeSecrets(change, "promote-secret", promoteNextSecret(deps.encryption, change.row));
  };
  return withEndpoint(deps, by, id, promote, repeatable);
}
