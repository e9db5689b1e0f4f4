import type { WebhookEndpointDto } from "@ehr-marketplace/contracts";
import { Problem } from "@ehr-marketplace/service-kit/http";
import type { Seal } from "@ehr-marketplace/service-kit/secrets";
import type { ActingForVendor } from "../../access/acting-for-vendor.ts";
import type { Repeatable } from "../../idempotency/once.ts";
import { requireUsableSecret } from "../../secrets/signing-secret.ts";
import { type Change, type Managing, recordChange, withEndpoint } from "./change-endpoint.ts";
import { endpointSecretOwner, isRotating, nextSecretOwner, rotationMs } from "./endpoint.ts";
import { endpointProblems } from "./endpoint-errors.ts";
import { endpointRecord } from "./endpoint-record.ts";
import { type EndpointRow, updateEndpoint } from "./endpoint-store.ts";

type Secrets = Pick<EndpointRow, "sealed_secret" | "sealed_next_secret" | "promote_at">;

/** The next secret in the place of the current one. It is sealed for its place, and so has to be sealed again. */
export function promoted(seal: Seal, { id, sealed_secret, sealed_next_secret }: EndpointRow): Secrets {
  const none = { sealed_next_secret: null, promote_at: null };
  if (sealed_next_secret === null) return { sealed_secret, ...none };
  const secret = seal.open(sealed_next_secret, nextSecretOwner(id));
  return { sealed_secret: seal.close(secret, endpointSecretOwner(id)), ...none };
}

async function changeSecrets(change: Change, action: string, secrets: Secrets): Promise<WebhookEndpointDto> {
  const { transaction, row, now, at } = change;
  await updateEndpoint(transaction, row.id, { ...secrets, updated_at: at });
  const changed = endpointRecord({ ...row, ...secrets }, now);
  await recordChange(change, action, changed);
  return changed;
}

/** Adds a next secret, which signs beside the current one. It replaces a next one that is still waiting. */
export async function rotateSecret(
  managing: Managing,
  by: ActingForVendor,
  id: string,
  secret: string,
  repeatable: Repeatable,
): Promise<WebhookEndpointDto> {
  requireUsableSecret(secret);
  const rotate = async (change: Change): Promise<WebhookEndpointDto> => {
    const { row, now } = change;
    // A next one whose time has come is what signs now: were it replaced, receivers would lose the secret they know.
    const { sealed_secret } = isRotating(row, now) ? row : promoted(managing.seal, row);
    return changeSecrets(change, "rotate-secret", {
      sealed_secret,
      sealed_next_secret: managing.seal.close(secret, nextSecretOwner(row.id)),
      promote_at: new Date(now.getTime() + rotationMs),
    });
  };
  return withEndpoint(managing, by, id, rotate, repeatable);
}

export async function promoteSecret(
  managing: Managing,
  by: ActingForVendor,
  id: string,
  repeatable: Repeatable,
): Promise<WebhookEndpointDto> {
  const promote = async (change: Change): Promise<WebhookEndpointDto> => {
    if (!isRotating(change.row, change.now)) {
      throw new Problem(endpointProblems.noRotation, "The endpoint has no next secret that could take over.");
    }
    return changeSecrets(change, "promote-secret", promoted(managing.seal, change.row));
  };
  return withEndpoint(managing, by, id, promote, repeatable);
}
