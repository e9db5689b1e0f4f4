import { isSandboxSlug, type UsageReportedEvent } from "@ehr-marketplace/contracts";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import { v7 as uuid } from "uuid";
import type { DB } from "../database-schema.ts";
import { createUnorderedDelivery } from "../delivery/create-deliveries.ts";
import { findRecipientsOf, insertEvent } from "./event-store.ts";

const event = "usage.reported";

/** Tells the vendor's endpoints that named `usage.reported` of a batch, in its transaction. Deliveries to a crowded endpoint wait. */
export async function recordUsageReported(
  transaction: Transaction<DB>,
  queue: Queue,
  batch: Omit<UsageReportedEvent, "event" | "timestamp"> & { vendorId: string; at: Date },
): Promise<void> {
  const { app, subscription, usage, vendorId, at } = batch;
  const eventId = uuid();
  const payload: UsageReportedEvent = { event, app, subscription, timestamp: at.toISOString(), usage };
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
