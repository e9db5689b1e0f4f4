import type { WebhookEventName } from "@ehr-marketplace/contracts";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import { v7 as uuid } from "uuid";
import type { DB } from "../database-schema.ts";
import { createUnorderedDelivery } from "../delivery/create-deliveries.ts";
import { deferRecipientsOf, insertEvent } from "./event-store.ts";

/** An event for a vendor's endpoints only, in no order. */
export interface VendorEvent {
  payload: { event: WebhookEventName };
  vendorId: string;
  subscriptionId: string | null;
  isSandbox: boolean;
  at: Date;
  /** Whether deliveries to a crowded endpoint wait. */
  waitsIfCrowded: boolean;
}

/** Inserts the event, and its deliveries to the vendor's endpoints that named it, in the transaction of the change. */
export async function recordVendorEvent(transaction: Transaction<DB>, queue: Queue, event: VendorEvent): Promise<void> {
  await (await deferVendorEvent(transaction, event.vendorId, event.payload.event))(queue, event);
}

/** The same in two steps: the endpoints are read with the next statement, and the event is inserted by the returned function. */
export async function deferVendorEvent(
  transaction: Transaction<DB>,
  vendorId: string,
  event: WebhookEventName,
): Promise<(queue: Queue, given: Omit<VendorEvent, "vendorId">) => Promise<void>> {
  const readRecipients = await deferRecipientsOf(transaction, vendorId, event);
  return async (queue, { payload, subscriptionId, isSandbox, at, waitsIfCrowded }) => {
    const eventId = uuid();
    await insertEvent(transaction, {
      id: eventId,
      event,
      vendor_id: vendorId,
      subscription_id: subscriptionId,
      occurred_at: at,
      payload: JSON.stringify(payload),
      sandbox: isSandbox,
    });
    for (const recipientId of await readRecipients()) {
      await createUnorderedDelivery(transaction, queue, { eventId, recipientId, at, waitsIfCrowded });
    }
  };
}
