import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import { v7 as uuid } from "uuid";
import type { DB } from "../../database-schema.ts";
import { insertEvent } from "../events/event-store.ts";
import { insertJobs, scheduleRecovery } from "./delivery-jobs.ts";
import { countUnordered, findDelivery, insertDelivery } from "./delivery-store.ts";
import { activeState, lockRecipient } from "./recipient-store.ts";
import { redeliver } from "./redeliver.ts";
import { firstPace } from "./retry-schedule.ts";

/** Reactivates a held or disabled recipient without a probe; its waiting deliveries are sent in growing batches. */
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
    .set({ ...activeState, disabled_at: null, disabled_reason: null })
    .where("id", "=", recipientId)
    .execute();
  await scheduleRecovery(transaction, queue, recipientId, { pace: firstPace, startAfter: now });
}

/** Probes a held recipient at once, after its URL has changed. */
export async function probeHeldRecipient(
  transaction: Transaction<DB>,
  queue: Queue,
  recipientId: string,
  now: Date,
): Promise<void> {
  const { status } = await lockRecipient(transaction, recipientId);
  if (status === "held") await scheduleRecovery(transaction, queue, recipientId, { startAfter: now });
}

/** Pings to a receiver that doesn't respond must not pile up. */
const maxDuePings = 100;

/** Records a `ping` to one endpoint, without an ordering key. Undefined when too many are unsettled already. */
export async function recordPing(
  transaction: Transaction<DB>,
  queue: Queue,
  { id: recipientId, vendor_id }: { id: string; vendor_id: string },
  now: Date,
): Promise<string | undefined> {
  if ((await countUnordered(transaction, recipientId, maxDuePings)) >= maxDuePings) return undefined;
  const eventId = uuid();
  const payload = JSON.stringify({ event: "ping", timestamp: now.toISOString() });
  await insertEvent(transaction, { id: eventId, event: "ping", vendor_id, occurred_at: now, payload });
  const delivery = await insertDelivery(transaction, { eventId, recipientId, at: now });
  if (delivery.status === "queued") await insertJobs(transaction, queue, [delivery]);
  return delivery.id;
}

/** Queues a settled delivery once more, under its id. False when it is not settled. */
export async function redeliverById(transaction: Transaction<DB>, queue: Queue, deliveryId: string): Promise<boolean> {
  const found = await findDelivery(transaction, deliveryId);
  if (found === undefined) throw new Error("failed to redeliver: the delivery doesn't exist");
  return (await redeliver(transaction, queue, found.recipient_id, { settled: [found] })) > 0;
}
