import { isSandboxSlug, type UsageReportedEvent } from "@ehr-marketplace/contracts";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { deferVendorEvent } from "./record-vendor-event.ts";

/** What the event says, besides its time. */
type Reported = Omit<UsageReportedEvent, "event" | "timestamp">;

/**
 * Tells the vendor's endpoints that named `usage.reported` of a batch, in its transaction. Deliveries to a crowded endpoint wait. In two
 * steps: the endpoints are read with the next statement, and the event is inserted by the returned function.
 */
export async function deferUsageReported(
  transaction: Transaction<DB>,
  vendorId: string,
): Promise<(queue: Queue, reported: Reported, at: Date) => Promise<void>> {
  const event = "usage.reported";
  const record = await deferVendorEvent(transaction, vendorId, event);
  return (queue, { app, subscription, usage }, at) => {
    const payload: UsageReportedEvent = { event, app, subscription, timestamp: at.toISOString(), usage };
    const isSandbox = isSandboxSlug(app.slug);
    return record(queue, { payload, subscriptionId: subscription.id, isSandbox, at, waitsIfCrowded: true });
  };
}
