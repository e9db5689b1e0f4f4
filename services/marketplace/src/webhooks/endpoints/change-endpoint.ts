import { isDeepStrictEqual } from "node:util";
import type { ChangeWebhookBody, WebhookEndpointDto } from "@ehr-marketplace/contracts";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { KeyedDigest, Seal } from "@ehr-marketplace/service-kit/secrets";
import type { Kysely, Transaction } from "kysely";
import { type ActingForVendor, onBehalfOf } from "../../access/acting-for-vendor.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import type { DB } from "../../database-schema.ts";
import { once, type Repeatable } from "../../idempotency/once.ts";
import type { Resolve } from "../delivery/send/admitted-addresses.ts";
import { nextInstant } from "../events/event.ts";
import { checkUrl } from "./check-endpoint.ts";
import { silenceRecipient } from "./deleted-endpoint-store.ts";
import { endpointRecord } from "./endpoint-record.ts";
import { type EndpointRow, lockEndpoint, updateEndpoint } from "./endpoint-store.ts";
import { noEndpoint } from "./read-endpoints.ts";

export interface Managing {
  database: Kysely<DB>;
  seal: Seal;
  clock: () => Date;
  queue: Queue;
  bodyDigest: KeyedDigest;
  /** Networks in which endpoints may be although they are not public, and with plain http. */
  allowedNetworks: readonly string[];
}

export interface Addressing extends Managing {
  /** All addresses of a name, found as they are when something is sent to it. */
  resolve: Resolve;
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
  { database, clock, bodyDigest }: Managing,
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
    return once(transaction, { caller: by.caller, now, bodyDigest }, repeatable, () => work(change));
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
  addressing: Addressing,
  by: ActingForVendor,
  id: string,
  input: ChangeWebhookBody,
): Promise<WebhookEndpointDto> {
  const requireUsableUrl = input.url === undefined ? undefined : await checkUrl(input.url, addressing);
  return withEndpoint(addressing, by, id, async (change) => {
    const { transaction, row, now, at } = change;
    requireUsableUrl?.();
    const wanted = { url: input.url ?? row.url, events: input.events ?? row.events };
    if (isDeepStrictEqual(wanted, { url: row.url, events: row.events })) return endpointRecord(row, now);
    await updateEndpoint(transaction, row.id, { ...wanted, updated_at: at });
    const changed = endpointRecord({ ...row, ...wanted }, now);
    await recordChange(change, "change", changed);
    return changed;
  });
}

/** What was delivered to it stays in the log; what was still due to it is never sent, and dropped by a worker. */
export async function deleteEndpoint(managing: Managing, by: ActingForVendor, id: string): Promise<void> {
  await withEndpoint(managing, by, id, async (change) => {
    const { transaction, row, at } = change;
    await updateEndpoint(transaction, row.id, { deleted_at: at, updated_at: at });
    await silenceRecipient(transaction, row.id, at);
    await recordChange(change, "delete", { deletedAt: at.toISOString() });
  });
}
