import { type ConnectionUpdatedEvent, isSandboxSlug } from "@ehr-marketplace/contracts";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { recordVendorEvent } from "./record-vendor-event.ts";

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
  const payload: ConnectionUpdatedEvent = {
    event: "connection.updated",
    app,
    subscription,
    connection,
    timestamp: at.toISOString(),
  };
  await recordVendorEvent(transaction, queue, {
    payload,
    vendorId,
    subscriptionId: subscription.id,
    isSandbox: isSandboxSlug(app.slug),
    at,
    waitsIfCrowded: true,
  });
}
