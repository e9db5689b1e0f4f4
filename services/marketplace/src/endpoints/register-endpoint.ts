import type { RegisteredWebhookDto, RegisterWebhookBody } from "@ehr-marketplace/contracts";
import { Problem } from "@ehr-marketplace/service-kit/http";
import { v7 as uuid } from "uuid";
import { onBehalfOf, type VendorContext } from "../access/vendor-context.ts";
import { recordAudit } from "../audit/record-audit.ts";
import { type IdempotentRequest, runIdempotently } from "../idempotency/run-idempotently.ts";
import { requireUsableSecret } from "../secrets/signing-secret.ts";
import { requireVendorId } from "../vendors/read-vendors.ts";
import type { EndpointUrlDeps } from "./change-endpoint.ts";
import { checkEndpointUrl } from "./check-endpoint-url.ts";
import { endpointSecretOwner, maxEndpointsPerVendor } from "./endpoint.ts";
import { endpointProblems } from "./endpoint-errors.ts";
import { endpointRecord, registeredRecord } from "./endpoint-record.ts";
import { countEndpoints, type EndpointRow, insertEndpoint, lockRegistration } from "./endpoint-store.ts";

export async function registerEndpoint(
  deps: EndpointUrlDeps,
  by: VendorContext,
  input: RegisterWebhookBody,
  repeatable: IdempotentRequest,
): Promise<RegisteredWebhookDto> {
  const { database, encryption, clock, bodyDigest } = deps;
  const requireUsableUrl = await checkEndpointUrl(input.url, deps);
  return database.transaction().execute((transaction) =>
    runIdempotently(transaction, { caller: by.caller, now: clock(), bodyDigest }, repeatable, async () => {
      const warnings = requireUsableUrl();
      requireUsableSecret(input.secret);
      const vendorId = await requireVendorId(transaction, by.vendor);
      await lockRegistration(transaction, vendorId);
      if ((await countEndpoints(transaction, vendorId)) >= maxEndpointsPerVendor) {
        throw new Problem(endpointProblems.tooMany, `The vendor already has ${maxEndpointsPerVendor} endpoints.`);
      }
      // Read after the lock, so that endpoints are listed in the order of registration.
      const now = clock();
      const id = uuid();
      const columns = {
        id,
        vendor_id: vendorId,
        url: input.url,
        events: input.events,
        encrypted_secret: encryption.encrypt(input.secret, endpointSecretOwner(id)),
        created_at: now,
        updated_at: now,
      };
      await insertEndpoint(transaction, columns);
      const row: EndpointRow = {
        ...columns,
        encrypted_next_secret: null,
        promote_at: null,
        deleted_at: null,
        recent_tests: [],
        status: "active",
        held_since: null,
        disabled_reason: null,
        next_probe_at: null,
      };
      await recordAudit(transaction, {
        by,
        role: by.role,
        at: now,
        onBehalfOf: onBehalfOf(by),
        action: "webhook-endpoint.register",
        target: { kind: "webhook-endpoint", id },
        before: null,
        after: endpointRecord(row, now),
      });
      return { ...registeredRecord(row), ...warnings };
    }),
  );
}
