import type {
  ListDeliveriesQuery,
  PageQuery,
  WebhookDeliveryDetailDto,
  WebhookDeliveryLogPage,
  WebhookDeliveryPage,
} from "@ehr-marketplace/contracts";
import { Problem, pageOf, timeInQuery } from "@ehr-marketplace/service-kit/http";
import type { Kysely } from "kysely";
import type { ActingForVendor } from "../../access/acting-for-vendor.ts";
import type { DB } from "../../database-schema.ts";
import { endpointProblems } from "./endpoint-errors.ts";
import { attemptRecord, deliveryRecord } from "./endpoint-record.ts";
import { type DeliveryRow, findAttempts, findDeliveries, findDelivery, findPayload } from "./endpoint-store.ts";
import { endpointOf } from "./read-endpoints.ts";

/** The clock of whoever sent the first attempt may be behind that of whoever recorded the event. */
const clocksApartMs = 3_600_000;

export async function deliveryTo(database: Kysely<DB>, endpointId: string, id: string): Promise<DeliveryRow> {
  const row = await findDelivery(database, endpointId, id);
  if (row === undefined)
    throw new Problem(endpointProblems.deliveryNotFound, "No delivery to this endpoint has that id.");
  return row;
}

export async function getDelivery(
  database: Kysely<DB>,
  by: ActingForVendor,
  of: { endpointId: string; deliveryId: string },
): Promise<WebhookDeliveryDetailDto> {
  const { id } = await endpointOf(database, by, of.endpointId);
  const row = await deliveryTo(database, id, of.deliveryId);
  return { ...deliveryRecord(row), payload: await findPayload(database, row.event_id) };
}

export async function listDeliveries(
  database: Kysely<DB>,
  by: ActingForVendor,
  endpointId: string,
  query: ListDeliveriesQuery,
): Promise<WebhookDeliveryPage> {
  const filter = { status: query.status, from: timeInQuery("from", query.from), to: timeInQuery("to", query.to) };
  const { id } = await endpointOf(database, by, endpointId);
  return pageOf(query, {
    find: (slice) => findDeliveries(database, id, filter, slice),
    timeOf: (row) => row.created_at,
    itemOf: deliveryRecord,
  });
}

export async function listAttempts(
  database: Kysely<DB>,
  by: ActingForVendor,
  of: { endpointId: string; deliveryId: string },
  query: PageQuery,
): Promise<WebhookDeliveryLogPage> {
  const { id } = await endpointOf(database, by, of.endpointId);
  const delivery = await deliveryTo(database, id, of.deliveryId);
  const since = new Date(delivery.created_at.getTime() - clocksApartMs);
  return pageOf(query, {
    find: (slice) => findAttempts(database, { deliveryId: delivery.id, since }, slice),
    timeOf: (row) => row.started_at,
    itemOf: (row) => attemptRecord(row, delivery),
    // Each has up to 4 KiB of what a receiver sent, which may double when it is escaped.
    maxItems: 100,
  });
}
