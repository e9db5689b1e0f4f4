import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import { v7 as uuid } from "uuid";
import type { DB } from "../../database-schema.ts";
import { addressEvent } from "../delivery/address-event.ts";
import { payloadOf, type SubscriptionChange } from "./event.ts";
import { insertEvent } from "./event-store.ts";

/**
 * Freezes what happened, and to whom it is due, in the transaction that makes it happen: all commit, or nothing. The caller holds the
 * subscription's row, so that no other change can take the same place in its sequence.
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
  await addressEvent(transaction, queue, {
    eventId: id,
    event: change.event,
    organisationId: change.organisationId,
    vendorId: change.vendorId,
    subscriptionId: change.subscription.id,
    sequence: change.sequence,
    at: change.occurredAt,
  });
}
