import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import { v7 as uuid } from "uuid";
import type { DB } from "../../database-schema.ts";
import { insertEvent } from "../events/event-store.ts";
import { countOutsideLanes, findDelivery, insertDelivery } from "./delivery-store.ts";
import { planRecovery, sendJobs } from "./jobs.ts";
import { lockRecipient, untroubled } from "./recipient-store.ts";
import { firstPace } from "./retry-schedule.ts";
import { sendAgain } from "./send-again.ts";

/** Whoever says that it works again is believed: what waited begins to flow, and fails again if it doesn't. */
export async function enableRecipient(
  transaction: Transaction<DB>,
  queue: Queue,
  recipientId: string,
  now: Date,
): Promise<void> {
  const recipient = await lockRecipient(transaction, recipientId);
  if (recipient.status === "active") return;
  await transaction
    .updateTable("recipients")
    .set({ ...untroubled, disabled_at: null, disabled_because: null })
    .where("id", "=", recipientId)
    .execute();
  await planRecovery(transaction, queue, recipientId, { pace: firstPace, startAfter: now });
}

/** It listens elsewhere now: if it was held, that may have been the reason, and it is tried at once. */
export async function recipientMoved(
  transaction: Transaction<DB>,
  queue: Queue,
  recipientId: string,
  now: Date,
): Promise<void> {
  const { status } = await lockRecipient(transaction, recipientId);
  if (status === "held") await planRecovery(transaction, queue, recipientId, { startAfter: now });
}

/** What nobody answers must not pile up, however often it is asked for. */
const mostPings = 100;

/** A `ping` for one endpoint, outside any sequence; none where so many are on their way already. */
export async function recordPing(
  transaction: Transaction<DB>,
  queue: Queue,
  { id: recipientId, vendor_id }: { id: string; vendor_id: string },
  now: Date,
): Promise<string | undefined> {
  if ((await countOutsideLanes(transaction, recipientId, mostPings)) >= mostPings) return undefined;
  const eventId = uuid();
  const payload = JSON.stringify({ event: "ping", timestamp: now.toISOString() });
  await insertEvent(transaction, { id: eventId, event: "ping", vendor_id, occurred_at: now, payload });
  const delivery = await insertDelivery(transaction, { eventId, recipientId, at: now });
  if (delivery.status === "queued") await sendJobs(transaction, queue, [delivery]);
  return delivery.id;
}

/** Sends a settled delivery again, as further attempts of the same one. False: it is on its way already. */
export async function queueAgain(transaction: Transaction<DB>, queue: Queue, deliveryId: string): Promise<boolean> {
  const found = await findDelivery(transaction, deliveryId);
  if (found === undefined) throw new Error("a delivery that doesn't exist");
  return (await sendAgain(transaction, queue, found.recipient_id, { settled: [found] })) > 0;
}
