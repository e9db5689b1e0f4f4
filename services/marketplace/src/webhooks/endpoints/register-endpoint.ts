import type { RegisteredWebhookDto, RegisterWebhookBody } from "@ehr-marketplace/contracts";
import { Problem } from "@ehr-marketplace/service-kit/http";
import { v7 as uuid } from "uuid";
import { type ActingForVendor, onBehalfOf } from "../../access/acting-for-vendor.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import { once, type Repeatable } from "../../idempotency/once.ts";
import { requireUsableSecret } from "../../secrets/signing-secret.ts";
import type { Addressing } from "./change-endpoint.ts";
import { checkUrl } from "./check-endpoint.ts";
import { endpointSecretOwner, mostEndpoints } from "./endpoint.ts";
import { endpointProblems } from "./endpoint-errors.ts";
import { endpointRecord, registeredRecord } from "./endpoint-record.ts";
import { countEndpoints, type EndpointRow, findVendorId, insertEndpoint, lockRegistration } from "./endpoint-store.ts";

export async function registerEndpoint(
  addressing: Addressing,
  by: ActingForVendor,
  input: RegisterWebhookBody,
  repeatable: Repeatable,
): Promise<RegisteredWebhookDto> {
  const { database, seal, clock, bodyDigest } = addressing;
  const requireUsableUrl = await checkUrl(input.url, addressing);
  return database.transaction().execute((transaction) =>
    once(transaction, { caller: by.caller, now: clock(), bodyDigest }, repeatable, async () => {
      requireUsableUrl();
      requireUsableSecret(input.secret);
      const vendorId = await findVendorId(transaction, by.vendor);
      if (vendorId === undefined) {
        throw new Problem(endpointProblems.unknownVendor, "The marketplace knows no vendor of that slug.");
      }
      await lockRegistration(transaction, vendorId);
      if ((await countEndpoints(transaction, vendorId)) >= mostEndpoints) {
        throw new Problem(endpointProblems.tooMany, `The vendor has ${mostEndpoints} endpoints, and may have no more.`);
      }
      // After the lock, so that the list's order is the order of registration.
      const now = clock();
      const id = uuid();
      const columns = {
        id,
        vendor_id: vendorId,
        url: input.url,
        events: input.events,
        sealed_secret: seal.close(input.secret, endpointSecretOwner(id)),
        created_at: now,
        updated_at: now,
      };
      await insertEndpoint(transaction, columns);
      const row: EndpointRow = {
        ...columns,
        sealed_next_secret: null,
        promote_at: null,
        deleted_at: null,
        recent_tests: [],
        status: "active",
        held_since: null,
        disabled_because: null,
      };
      await recordAudit(transaction, {
        by,
        as: by.role,
        at: now,
        onBehalfOf: onBehalfOf(by),
        action: "webhook-endpoint.register",
        target: { kind: "webhook-endpoint", id },
        before: null,
        after: endpointRecord(row, now),
      });
      return registeredRecord(row);
    }),
  );
}
