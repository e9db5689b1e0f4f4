import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import type { DB } from "../../database-schema.ts";
import { beginAnew, insertMissed, type MissedEvent, type SettledDelivery, shareRecipient } from "./delivery-store.ts";
import { sendJobs } from "./jobs.ts";
import { lockLanes, queueAll, queueSuccessors } from "./queue-store.ts";

const isString = (value: string | null): value is string => value !== null;

/**
 * Queues settled deliveries of one recipient again, as further attempts of the same ones, and creates deliveries of events that
 * it has missed. Per ordering key only the first is queued at once; the others, and new events, follow it. Locks are taken in the
 * order in which settling takes them: subscriptions, deliveries, recipient. Returns how many there were; deliveries under way
 * stay as they are.
 */
export async function sendAgain(
  transaction: Transaction<DB>,
  queue: Queue,
  recipientId: string,
  { settled, missed = [] }: { settled: SettledDelivery[]; missed?: MissedEvent[] },
): Promise<number> {
  if (settled.length + missed.length === 0) return 0;
  const affected = [...settled, ...missed].map((each) => each.subscription_id).filter(isString);
  await lockLanes(transaction, [...new Set(affected)]);
  const begun = [
    ...(await beginAnew(
      transaction,
      settled.map(({ id }) => id),
    )),
    ...(await insertMissed(
      transaction,
      recipientId,
      missed.map(({ event_id }) => event_id),
    )),
  ];
  const recipient = await shareRecipient(transaction, recipientId);
  if (recipient.status !== "active") return begun.length;
  const lanes = [...new Set(begun.map((each) => each.subscription_id).filter(isString))];
  const heads = await queueSuccessors(
    transaction,
    lanes.map((subscriptionId) => ({ subscriptionId, recipientId })),
  );
  const outsideLanes = begun.filter((each) => each.subscription_id === null).map(({ id }) => id);
  await queueAll(transaction, outsideLanes);
  await sendJobs(transaction, queue, [
    ...heads,
    ...outsideLanes.map((id) => ({ id, recipient_id: recipientId, again: true })),
  ]);
  return begun.length;
}
