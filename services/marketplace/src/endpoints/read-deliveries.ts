import type {
  ListDeliveriesQuery,
  PageQuery,
  WebhookDeliveryDetailDto,
  WebhookDeliveryLogPage,
  WebhookDeliveryPage,
} from "@ehr-marketplace/contracts";
import { listPage, Problem, parseQueryTime } from "@ehr-marketplace/service-kit/http";
import type { Kysely } from "kysely";
import type { VendorContext } from "../access/vendor-context.ts";
import type { DB } from "../database-schema.ts";
import { endpointProblems } from "./endpoint-errors.ts";
import { attemptRecord, deliveryRecord } from "./endpoint-record.ts";
import { type DeliveryRow, findAttempts, findDeliveries, findDelivery, findPayload } from "./endpoint-store.ts";
import { getEndpointRow } from "./read-endpoints.ts";

/** The clock of the worker that sent the first attempt may be behind that of the process that recorded the event. */
const maxClockSkewMs = 3_600_000;

export async function getDeliveryRow(database: Kysely<DB>, endpointId: string, id: string): Promise<DeliveryRow> {
  const row = await findDelivery(database, endpointId, id);
  if (row === undefined)
    throw new Problem(endpointProblems.deliveryNotFound, "No delivery to this endpoint has that id.");
  return row;
}

export async function getDelivery(
  database: Kysely<DB>,
  by: VendorContext,
  of: { endpointId: string; deliveryId: string },
): Promise<WebhookDeliveryDetailDto> {
  const { id } = await getEndpointRow(database, by, of.endpointId);
  const row = await getDeliveryRow(database, id, of.deliveryId);
  return { ...deliveryRecord(row), payload: await findPayload(database, row.event_id) };
}

export async function listDeliveries(
  database: Kysely<DB>,
  by: VendorContext,
  endpointId: string,
  query: ListDeliveriesQuery,
): Promise<WebhookDeliveryPage> {
  const filter = { status: query.status, from: parseQueryTime("from", query.from), to: parseQueryTime("to", query.to) };
  const { id } = await getEndpointRow(database, by, endpointId);
  return listPage(query, {
    find: (slice) => findDeliveries(database, id, filter, slice),
    getTime: (row) => row.created_at,
    toItem: deliveryRecord,
  });
}

export async function listAttempts(
  database: Kysely<DB>,
  by: VendorContext,
  of: { endpointId: string; deliveryId: string },
  query: PageQuery,
): Promise<WebhookDeliveryLogPage> {
  const { id } = await getEndpointRow(database, by, of.endpointId);
  const delivery = await getDeliveryRow(database, id, of.deliveryId);
  const since = new Date(delivery.created_at.getTime() - maxClockSkewMs);
  return listPage(query, {
    find: (slice) => findAttempts(database, { deliveryId: delivery.id, since }, slice),
    getTime: (row) => row.started_at,
    toItem: (row) => attemptRecord(row, delivery),
    // Each attempt has up to 4 KiB of the receiver's response, and JSON escapes can double that.
    maxItems: 100,
  });
}
