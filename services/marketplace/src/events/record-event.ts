import { isSandboxSlug } from "@ehr-marketplace/contracts";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import { v7 as uuid } from "uuid";
import type { DB } from "../database-schema.ts";
import {
  createDeliveries,
  createDeliveriesOfBatch,
  createUnorderedDelivery,
  hasTooManyPings,
} from "../delivery/create-deliveries.ts";
import { payloadOf, type SubscriptionChange } from "./event.ts";
import { insertEvent, insertEvents } from "./event-store.ts";

const rowOf = (id: string, change: SubscriptionChange) => ({
  id,
  event: change.event,
  vendor_id: change.vendorId,
  subscription_id: change.subscription.id,
  sequence: change.sequence,
  occurred_at: change.occurredAt,
  payload: payloadOf(change),
  sandbox: isSandboxSlug(change.app.slug),
});

const recordedEventOf = (id: string, change: SubscriptionChange) => ({
  eventId: id,
  event: change.event,
  organisationId: change.organisationId,
  vendorId: change.vendorId,
  subscriptionId: change.subscription.id,
  sequence: change.sequence,
  at: change.occurredAt,
});

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
  await insertEvent(transaction, rowOf(id, change));
  await createDeliveries(transaction, queue, recordedEventOf(id, change));
}

/** The same for changes of many subscriptions, all of one vendor and with the same event. */
export async function recordEvents(
  transaction: Transaction<DB>,
  queue: Queue,
  changes: SubscriptionChange[],
): Promise<void> {
  const identified = changes.map((change) => ({ id: uuid(), change }));
  await insertEvents(
    transaction,
    identified.map(({ id, change }) => rowOf(id, change)),
  );
  await createDeliveriesOfBatch(
    transaction,
    queue,
    identified.map(({ id, change }) => recordedEventOf(id, change)),
  );
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
