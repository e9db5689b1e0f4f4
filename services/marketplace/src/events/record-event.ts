import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import { v7 as uuid } from "uuid";
import type { DB } from "../database-schema.ts";
import { createDeliveries, createUnorderedDelivery, hasTooManyPings } from "../delivery/create-deliveries.ts";
import { payloadOf, type SubscriptionChange } from "./event.ts";
import { insertEvent } from "./event-store.ts";

/**
 * Inserts the event and its deliveries in the transaction of the change. The caller holds the lock on the subscription's row, so
 * that no other change gets the same sequence number.
 */
export async function recordEvent(
  transaction: Transaction<DB>,
  queue: Queue,
  change: SubscriptionChange,
): Promise<void> {
  const id = uuid();
  await insertEvent(transaction, {
    id,
    event: change.event,
    vendor_id: change.vendorId,
    subscription_id: change.subscription.id,
    sequence: change.sequence,
    occurred_at: change.occurredAt,
    payload: payloadOf(change),
  });
  await createDeliveries(transaction, queue, {
    eventId: id,
    event: change.event,
    organisationId: change.organisationId,
    vendorId: change.vendorId,
    subscriptionId: change.subscription.id,
    sequence: change.sequence,
    at: change.occurredAt,
  });
}

/** Records a `ping` to one endpoint, without an ordering key. Undefined when too many are unsettled already. */
export async function recordPing(
  transaction: Transaction<DB>,
  queue: Queue,
  { id: recipientId, vendor_id }: { id: string; vendor_id: string },
  now: Date,
): Promise<string | undefined> {
  if (await hasTooManyPings(transaction, recipientId)) return undefined;
  const eventId = uuid();
  const payload = JSON.stringify({ event: "ping", timestamp: now.toISOString() });
  await insertEvent(transaction, { id: eventId, event: "ping", vendor_id, occurred_at: now, payload });
  return createUnorderedDelivery(transaction, queue, { eventId, recipientId, at: now });
}
