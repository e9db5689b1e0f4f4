import type { EventApp } from "@ehr-marketplace/contracts";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { findEventApp } from "./event-store.ts";
import { recordVendorEvent } from "./record-vendor-event.ts";

/** Tells the vendor's endpoints that named `app.updated` of a publication, in its transaction. */
export async function recordAppUpdated(
  transaction: Transaction<DB>,
  queue: Queue,
  { appId, at }: { appId: string; at: Date },
): Promise<void> {
  const { vendorId, ...app } = await findEventApp(transaction, appId);
  const payload = { event: "app.updated" as const, app: app satisfies EventApp, timestamp: at.toISOString() };
  const unrelated = { subscriptionId: null, isSandbox: false, waitsIfCrowded: false };
  await recordVendorEvent(transaction, queue, { ...unrelated, payload, vendorId, at });
}
