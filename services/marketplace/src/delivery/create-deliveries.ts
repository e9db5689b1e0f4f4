import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import type { RecordedEvent } from "./delivery.ts";
import { insertJobs } from "./delivery-jobs.ts";
import { countUnordered, insertDeliveries, insertDelivery } from "./delivery-store.ts";

/**
 * Creates one delivery per recipient in the event's transaction. A delivery gets a job at once, unless an earlier one with its
 * ordering key is unsettled or its recipient is not active: then it waits as a row. The caller holds the lock on the
 * subscription's row. Settling takes the same lock, so a settled delivery always queues its successor.
 */
export async function createDeliveries(
  transaction: Transaction<DB>,
  queue: Queue,
  event: RecordedEvent,
): Promise<void> {
  const deliveries = await insertDeliveries(transaction, event);
  const ready = deliveries.filter(({ status }) => status === "queued");
  await insertJobs(transaction, queue, ready);
}

/** Pings to a receiver that doesn't respond must not pile up. */
const maxDuePings = 100;

/** True when so many deliveries without an ordering key are unsettled that no further ping is accepted. */
export async function hasTooManyPings(transaction: Transaction<DB>, recipientId: string): Promise<boolean> {
  return (await countUnordered(transaction, recipientId, maxDuePings)) >= maxDuePings;
}

/** Creates one delivery to one recipient, without an ordering key. */
export async function createUnorderedDelivery(
  transaction: Transaction<DB>,
  queue: Queue,
  event: { eventId: string; recipientId: string; at: Date },
): Promise<string> {
  const delivery = await insertDelivery(transaction, event);
  if (delivery.status === "queued") await insertJobs(transaction, queue, [delivery]);
  return delivery.id;
}
