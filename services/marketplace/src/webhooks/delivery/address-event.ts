import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import type { DB } from "../../database-schema.ts";
import { type AddressedEvent, insertDeliveries } from "./delivery-store.ts";
import { sendJobs } from "./jobs.ts";

/**
 * One delivery for each recipient, in the transaction of the event. It goes out at once, unless another of its lane is
 * still under way or its recipient is held: then it is a row that waits, and no job. Whoever calls holds the
 * subscription's row, which is the lane's lock: settling takes it too, so that neither can miss what the other does.
 */
export async function addressEvent(transaction: Transaction<DB>, queue: Queue, event: AddressedEvent): Promise<void> {
  const deliveries = await insertDeliveries(transaction, event);
  const ready = deliveries.filter(({ status }) => status === "queued");
  await sendJobs(transaction, queue, ready);
}
