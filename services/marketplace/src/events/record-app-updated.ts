import type { EventApp } from "@ehr-marketplace/contracts";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import { v7 as uuid } from "uuid";
import type { DB } from "../database-schema.ts";
import { createUnorderedDelivery } from "../delivery/create-deliveries.ts";
import { findEventApp, findRecipientsOf, insertEvent } from "./event-store.ts";

const event = "app.updated";

/** Tells the vendor's endpoints that named `app.updated` of a publication, in its transaction. */
export async function recordAppUpdated(
  transaction: Transaction<DB>,
  queue: Queue,
  { appId, at }: { appId: string; at: Date },
): Promise<void> {
  const { vendorId, ...app } = await findEventApp(transaction, appId);
  const eventId = uuid();
  const payload = JSON.stringify({ event, app: app satisfies EventApp, timestamp: at.toISOString() });
  await insertEvent(transaction, { id: eventId, event, vendor_id: vendorId, occurred_at: at, payload });
  for (const recipientId of await findRecipientsOf(transaction, vendorId, event)) {
    await createUnorderedDelivery(transaction, queue, { eventId, recipientId, at });
  }
}
