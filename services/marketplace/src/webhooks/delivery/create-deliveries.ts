import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import type { DB } from "../../database-schema.ts";
import { insertJobs } from "./delivery-jobs.ts";
import { insertDeliveries, type RecordedEvent } from "./delivery-store.ts";

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
