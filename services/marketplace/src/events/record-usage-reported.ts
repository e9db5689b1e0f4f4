import { isSandboxSlug, type UsageReportedEvent } from "@ehr-marketplace/contracts";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { recordVendorEvent } from "./record-vendor-event.ts";

/** Tells the vendor's endpoints that named `usage.reported` of a batch, in its transaction. Deliveries to a crowded endpoint wait. */
export async function recordUsageReported(
  transaction: Transaction<DB>,
  queue: Queue,
  batch: Omit<UsageReportedEvent, "event" | "timestamp"> & { vendorId: string; at: Date },
): Promise<void> {
  const { app, subscription, usage, vendorId, at } = batch;
  const payload: UsageReportedEvent = {
    event: "usage.reported",
    app,
    subscription,
    timestamp: at.toISOString(),
    usage,
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
