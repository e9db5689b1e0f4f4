import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { findAvailable } from "../recipients/recovery-locks.ts";
import type { MissedEvent, SettledDelivery } from "./delivery.ts";
import { insertJobs } from "./delivery-jobs.ts";
import { canSendTo, findDelivery, insertMissedDeliveries, reopenDeliveries } from "./delivery-store.ts";
import { lockOrderingKeys, queueFirst } from "./queue-store.ts";

const isString = (value: string | null): value is string => value !== null;

/**
 * Queues settled deliveries of one recipient once more, under their ids, and creates deliveries of missed events. Per ordering
 * key only the first is queued at once; the others, and new events, follow it. Locks are taken in the same order as by settling:
 * subscriptions, then deliveries. Returns how many deliveries were reopened or created; unsettled ones stay as they are.
 */
export async function redeliver(
  transaction: Transaction<DB>,
  queue: Queue,
  recipientId: string,
  { settled, missed = [] }: { settled: SettledDelivery[]; missed?: MissedEvent[] },
): Promise<number> {
  if (settled.length + missed.length === 0) return 0;
  const affected = [...settled, ...missed].map((each) => each.subscription_id).filter(isString);
  await lockOrderingKeys(transaction, [...new Set(affected)]);
  const reopened = [
    ...(await reopenDeliveries(
      transaction,
      settled.map(({ id }) => id),
    )),
    ...(await insertMissedDeliveries(
      transaction,
      recipientId,
      missed.map(({ event_id }) => event_id),
    )),
  ];
  const canSend =
    (await canSendTo(transaction, recipientId)) || (await findAvailable(transaction, [recipientId])).has(recipientId);
  if (!canSend) return reopened.length;
  const ids = reopened.map(({ id }) => id);
  await insertJobs(transaction, queue, await queueFirst(transaction, ids));
  return reopened.length;
}

/** Queues a settled delivery once more, under its id. False when it is not settled. */
export async function redeliverById(transaction: Transaction<DB>, queue: Queue, deliveryId: string): Promise<boolean> {
  const found = await findDelivery(transaction, deliveryId);
  if (found === undefined) throw new Error("failed to redeliver: the delivery doesn't exist");
  return (await redeliver(transaction, queue, found.recipient_id, { settled: [found] })) > 0;
}
