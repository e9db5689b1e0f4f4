import type { Transaction } from "kysely";
import type { DB } from "../../database-schema.ts";
import type { Queue } from "../../queue/queue.ts";
import { lockLanes, queueSuccessors } from "../delivery/delivery-store.ts";
import { sendJobs } from "../delivery/jobs.ts";
import { beginAnew, queueAll, type ReplayedDelivery, shareRecipient } from "./replay-store.ts";

const isString = (value: string | null): value is string => value !== null;

/**
 * Lets settled deliveries of one recipient go out again, as further attempts of the same ones. In each lane only the first goes
 * at once, and the others follow it; what is new in the lane waits behind them. Locks are taken in the order in which
 * settling takes them: lanes, deliveries, recipient.
 */
export async function sendAgain(
  transaction: Transaction<DB>,
  queue: Queue,
  recipientId: string,
  settled: ReplayedDelivery[],
): Promise<void> {
  if (settled.length === 0) return;
  await lockLanes(transaction, [...new Set(settled.map((each) => each.subscription_id).filter(isString))]);
  const begun = await beginAnew(
    transaction,
    settled.map(({ id }) => id),
  );
  const recipient = await shareRecipient(transaction, recipientId);
  if (recipient.status !== "active") return;
  const lanes = [...new Set(begun.map((each) => each.subscription_id).filter(isString))];
  const heads = await queueSuccessors(
    transaction,
    lanes.map((subscriptionId) => ({ subscriptionId, recipientId })),
  );
  const outsideLanes = begun.filter((each) => each.subscription_id === null).map(({ id }) => id);
  await queueAll(transaction, outsideLanes);
  await sendJobs(transaction, queue, [...heads, ...outsideLanes.map((id) => ({ id, recipient_id: recipientId }))]);
}
