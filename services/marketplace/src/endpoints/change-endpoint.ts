import { isDeepStrictEqual } from "node:util";
import type { UpdateWebhookBody, WebhookEndpointDto } from "@ehr-marketplace/contracts";
import type { Resolve } from "@ehr-marketplace/outbound-http";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Encryption, KeyedDigest } from "@ehr-marketplace/service-kit/secrets";
import type { Kysely, Transaction } from "kysely";
import { onBehalfOf, type VendorContext } from "../access/vendor-context.ts";
import { recordAudit } from "../audit/record-audit.ts";
import type { DB } from "../database-schema.ts";
import { nextInstant } from "../events/event.ts";
import { type IdempotentRequest, runIdempotently } from "../idempotency/run-idempotently.ts";
import { applyRecipientEvent } from "../recipients/apply-recipient-event.ts";
import { checkEndpointUrl } from "./check-endpoint-url.ts";
import { endpointRecord } from "./endpoint-record.ts";
import { type EndpointRow, lockEndpoint, updateEndpoint } from "./endpoint-store.ts";
import { endpointNotFound } from "./read-endpoints.ts";

export interface EndpointDeps {
  database: Kysely<DB>;
  encryption: Encryption;
  clock: () => Date;
  queue: Queue;
  bodyDigest: KeyedDigest;
  /** Private networks in which endpoints are allowed, also with plain http. */
  allowedNetworks: readonly string[];
}

export interface EndpointUrlDeps extends EndpointDeps {
  /** Resolves a name in the same way as the sender does. */
  resolve: Resolve;
}

export interface Change {
  transaction: Transaction<DB>;
  by: VendorContext;
  row: EndpointRow;
  now: Date;
  /** The time of the change, later than the previous change's also when clocks differ. */
  at: Date;
}

/** Runs `work` in a transaction that locks the vendor's endpoint. */
export async function withEndpoint<T>(
  { database, clock, bodyDigest }: EndpointDeps,
  by: VendorContext,
  id: string,
  work: (change: Change) => Promise<T>,
  repeatable?: IdempotentRequest,
): Promise<T> {
  return database.transaction().execute(async (transaction) => {
    const row = await lockEndpoint(transaction, by.vendor, id);
    if (row === undefined) throw endpointNotFound();
    const now = clock();
    const change = { transaction, by, row, now, at: nextInstant(now, row.updated_at) };
    if (repeatable === undefined) return work(change);
    return runIdempotently(transaction, { caller: by.caller, now, bodyDigest }, repeatable, () => work(change));
  });
}

export async function recordChange(
  { transaction, by, row, now, at }: Change,
  action: string,
  after: Record<string, unknown> | null,
): Promise<void> {
  await recordAudit(transaction, {
    by,
    role: by.role,
    at,
    onBehalfOf: onBehalfOf(by),
    action: `webhook-endpoint.${action}`,
    target: { kind: "webhook-endpoint", id: row.id },
    before: endpointRecord(row, now),
    after,
  });
}

export async function changeEndpoint(
  deps: EndpointUrlDeps,
  by: VendorContext,
  id: string,
  input: UpdateWebhookBody,
): Promise<WebhookEndpointDto> {
  const requireUsableUrl = input.url === undefined ? undefined : await checkEndpointUrl(input.url, deps);
  return withEndpoint(deps, by, id, async (change) => {
    const { transaction, row, now, at } = change;
    const warnings = requireUsableUrl?.();
    const requested = { url: input.url ?? row.url, events: input.events ?? row.events };
    if (isDeepStrictEqual(requested, { url: row.url, events: row.events }))
      return { ...endpointRecord(row, now), ...warnings };
    await updateEndpoint(transaction, row.id, { ...requested, updated_at: at });
    const changed = endpointRecord({ ...row, ...requested }, now);
    await recordChange(change, "change", changed);
    return { ...changed, ...warnings };
  });
}

/** Keeps the delivery log. A worker drops the undelivered deliveries. */
export async function deleteEndpoint(deps: EndpointDeps, by: VendorContext, id: string): Promise<void> {
  await withEndpoint(deps, by, id, async (change) => {
    const { transaction, row, at } = change;
    await updateEndpoint(transaction, row.id, { deleted_at: at, updated_at: at });
    await applyRecipientEvent(transaction, deps.queue, row.id, { type: "deleted", at });
    await recordChange(change, "delete", { deletedAt: at.toISOString() });
  });
}
