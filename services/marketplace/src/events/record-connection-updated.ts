import { type ConnectionUpdatedEvent, isSandboxSlug } from "@ehr-marketplace/contracts";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import { v7 as uuid } from "uuid";
import type { DB } from "../database-schema.ts";
import { createUnorderedDelivery } from "../delivery/create-deliveries.ts";
import { findRecipientsOf, insertEvent } from "./event-store.ts";

const event = "connection.updated";

/**
 * Tells the vendor's endpoints that named `connection.updated` of a report, in its transaction. When an authorization server knows an
 * app's client, the connections of all its subscriptions become ready at once: deliveries to a crowded endpoint wait.
 */
export async function recordConnectionUpdated(
  transaction: Transaction<DB>,
  queue: Queue,
  change: Omit<ConnectionUpdatedEvent, "event" | "timestamp"> & { vendorId: string; at: Date },
): Promise<void> {
  const { app, subscription, connection, vendorId, at } = change;
  const eventId = uuid();
  const payload: ConnectionUpdatedEvent = { event, app, subscription, connection, timestamp: at.toISOString() };
  await insertEvent(transaction, {
    id: eventId,
    event,
    vendor_id: vendorId,
    subscription_id: subscription.id,
    occurred_at: at,
    payload: JSON.stringify(payload),
    sandbox: isSandboxSlug(app.slug),
  });
  for (const recipientId of await findRecipientsOf(transaction, vendorId, event)) {
    await createUnorderedDelivery(transaction, queue, { eventId, recipientId, at, waitsIfCrowded: true });
  }
}
