import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { findAvailable } from "../recipients/recovery-locks.ts";
import type { RecordedEvent } from "./delivery.ts";
import { insertJobs } from "./delivery-jobs.ts";
import {
  countPings,
  insertDeliveries,
  insertDeliveriesOfBatch,
  insertDelivery,
  type NewDelivery,
  type UnorderedDelivery,
} from "./delivery-store.ts";
import { queueFirst } from "./queue-store.ts";

/**
 * Creates one delivery per recipient in the event's transaction. A delivery gets a job at once, unless an earlier one with its
 * ordering key is unsettled or its recipient is not available: then it waits as a row. The caller holds the lock on the
 * subscription's row. Settling takes the same lock, so a settled delivery always queues its successor.
 */
export async function createDeliveries(
  transaction: Transaction<DB>,
  queue: Queue,
  event: RecordedEvent,
): Promise<void> {
  await insertJobsOfReady(transaction, queue, await insertDeliveries(transaction, event));
}

/** The same for events of many subscriptions, all of one vendor and with the same name. The caller holds the locks of all of them. */
export async function createDeliveriesOfBatch(
  transaction: Transaction<DB>,
  queue: Queue,
  events: RecordedEvent[],
): Promise<void> {
  await insertJobsOfReady(transaction, queue, await insertDeliveriesOfBatch(transaction, events));
}

async function insertJobsOfReady(transaction: Transaction<DB>, queue: Queue, created: NewDelivery[]): Promise<void> {
  await insertJobs(
    transaction,
    queue,
    created.filter(({ status }) => status === "queued"),
  );
  const unavailable = created.filter(({ isAvailable }) => !isAvailable);
  if (unavailable.length === 0) return;
  const available = await findAvailable(transaction, [...new Set(unavailable.map(({ recipient_id }) => recipient_id))]);
  const ids = unavailable.filter(({ recipient_id }) => available.has(recipient_id)).map(({ id }) => id);
  await insertJobs(transaction, queue, await queueFirst(transaction, ids));
}

/** Pings to a receiver that doesn't respond must not pile up. */
const maxDuePings = 100;

/** True when so many pings are unsettled that no further one is accepted. */
export async function hasTooManyPings(transaction: Transaction<DB>, recipientId: string): Promise<boolean> {
  return (await countPings(transaction, recipientId)) >= maxDuePings;
}

/** Creates one delivery to one recipient, without an ordering key. */
export async function createUnorderedDelivery(
  transaction: Transaction<DB>,
  queue: Queue,
  event: UnorderedDelivery,
): Promise<string> {
  const delivery = await insertDelivery(transaction, event);
  await insertJobsOfReady(transaction, queue, [delivery]);
  return delivery.id;
}
