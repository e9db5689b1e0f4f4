import { isDeepStrictEqual } from "node:util";
import type { ChangeWebhookBody, WebhookEndpointDto } from "@ehr-marketplace/contracts";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Seal } from "@ehr-marketplace/service-kit/secrets";
import type { Kysely, Transaction } from "kysely";
import { recordAudit } from "../../audit/record-audit.ts";
import type { DB } from "../../database-schema.ts";
import { once, type Repeatable } from "../../idempotency/once.ts";
import { nextInstant } from "../events/event.ts";
import { type ActingForVendor, onBehalfOf } from "./acting-for-vendor.ts";
import { requireUsableUrl } from "./check-endpoint.ts";
import { endpointRecord } from "./endpoint-record.ts";
import { dropDeliveries, type EndpointRow, lockEndpoint, updateEndpoint } from "./endpoint-store.ts";
import { noEndpoint } from "./read-endpoints.ts";

export interface Managing {
  database: Kysely<DB>;
  seal: Seal;
  clock: () => Date;
  queue: Queue;
  /** Networks in which endpoints may be although they are not public, and with plain http. */
  allowedNetworks: readonly string[];
}

export interface Change {
  transaction: Transaction<DB>;
  by: ActingForVendor;
  row: EndpointRow;
  now: Date;
  /** The time of the change: later than that of the one before, whoever's clock it was. */
  at: Date;
}

/** Does something to an endpoint of the vendor, in a transaction that keeps all others from it meanwhile. */
export async function withEndpoint<T>(
  { database, clock }: Managing,
  by: ActingForVendor,
  id: string,
  work: (change: Change) => Promise<T>,
  repeatable?: Repeatable,
): Promise<T> {
  return database.transaction().execute(async (transaction) => {
    const row = await lockEndpoint(transaction, by.vendor, id);
    if (row === undefined) throw noEndpoint();
    const now = clock();
    const change = { transaction, by, row, now, at: nextInstant(now, row.updated_at) };
    if (repeatable === undefined) return work(change);
    return once(transaction, { caller: by.caller, now }, repeatable, () => work(change));
  });
}

export async function recordChange(
  { transaction, by, row, now, at }: Change,
  action: string,
  after: Record<string, unknown> | null,
): Promise<void> {
  await recordAudit(transaction, {
    by,
    as: by.role,
    at,
    onBehalfOf: onBehalfOf(by),
    action: `webhook-endpoint.${action}`,
    target: { kind: "webhook-endpoint", id: row.id },
    before: endpointRecord(row, now),
    after,
  });
}

export async function changeEndpoint(
  managing: Managing,
  by: ActingForVendor,
  id: string,
  input: ChangeWebhookBody,
): Promise<WebhookEndpointDto> {
  return withEndpoint(managing, by, id, async (change) => {
    const { transaction, row, now, at } = change;
    if (input.url !== undefined) requireUsableUrl(input.url, managing.allowedNetworks);
    const wanted = { url: input.url ?? row.url, events: input.events ?? row.events };
    if (isDeepStrictEqual(wanted, { url: row.url, events: row.events })) return endpointRecord(row, now);
    await updateEndpoint(transaction, row.id, { ...wanted, updated_at: at });
    const changed = endpointRecord({ ...row, ...wanted }, now);
    await recordChange(change, "change", changed);
    return changed;
  });
}

/** What was delivered to it stays in the log; what was still due to it is never sent. */
export async function deleteEndpoint(managing: Managing, by: ActingForVendor, id: string): Promise<void> {
  await withEndpoint(managing, by, id, async (change) => {
    const { transaction, row, at } = change;
    await updateEndpoint(transaction, row.id, { deleted_at: at, updated_at: at });
    const droppedDeliveries = await dropDeliveries(transaction, row.id, at);
    await recordChange(change, "delete", { deletedAt: at.toISOString(), droppedDeliveries });
  });
}
