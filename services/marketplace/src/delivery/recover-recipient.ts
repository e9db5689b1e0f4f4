import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Kysely, Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { recoveries } from "../queue/queues.ts";
import { beginRecovery, type RecoveringRecipient } from "../recipients/begin-recovery.ts";
import { firstPace, nextPace, paceIntervalMs } from "../recipients/recovery-schedule.ts";
import { deleteOwnedJobs, insertJobs } from "./delivery-jobs.ts";
import { countQueued, findNextProbe, findReady, queueWaiting } from "./recovery-store.ts";
import { maxQueuedPerRecipient } from "./retry-schedule.ts";

export interface RecoveryDeps {
  database: Kysely<DB>;
  queue: Queue;
  clock: () => Date;
}

/**
 * Runs the next step of a recipient's recovery. For a held recipient it queues one delivery as a probe. For an active one it queues
 * a batch of waiting deliveries, twice as many at each step, until none is left that can be sent. A slow recipient never has more
 * than `maxQueuedPerRecipient` queued.
 */
export async function recoverRecipient(
  { database, queue, clock }: RecoveryDeps,
  job: { id: string; retryCount: number },
  pace: number = firstPace,
): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    const isOwned = async (): Promise<boolean> =>
      (await deleteOwnedJobs(transaction, queue, recoveries, [job])).size > 0;
    const now = clock();
    const recipient = await beginRecovery(transaction, queue, job.id, now, isOwned);
    if (recipient?.action === "send-probe") await sendProbe(transaction, queue, recipient, now);
    if (recipient?.action === "release-waiting") await releaseWaiting(transaction, queue, recipient, pace, now);
  });
}

async function sendProbe(
  transaction: Transaction<DB>,
  queue: Queue,
  recipient: RecoveringRecipient,
  now: Date,
): Promise<void> {
  let next = await findNextProbe(transaction, recipient);
  if (next === undefined) {
    await recipient.waitForWriters();
    next = await findNextProbe(transaction, recipient);
  }
  // Nothing is waiting that could be a probe: the next event shows whether the recipient works.
  if (next === undefined) return recipient.reactivate();
  const [probe] = await queueWaiting(transaction, [next]);
  // Another transaction has locked the delivery.
  if (probe === undefined) return recipient.continueAt(new Date(now.getTime() + paceIntervalMs));
  await recipient.setProbe(probe.id);
  await insertJobs(transaction, queue, [{ ...probe, probe: true }]);
}

async function releaseWaiting(
  transaction: Transaction<DB>,
  queue: Queue,
  recipient: RecoveringRecipient,
  pace: number,
  now: Date,
): Promise<void> {
  const freeJobs = Math.max(0, maxQueuedPerRecipient - (await countQueued(transaction, recipient.id)));
  const batchSize = Math.min(pace, freeJobs);
  const ready = await findReady(transaction, recipient.id, batchSize);
  await insertJobs(transaction, queue, await queueWaiting(transaction, ready));
  const isDone = batchSize > 0 && ready.length < batchSize && !(await hasMoreReady(transaction, recipient));
  await recipient.setCrowded(isDone ? false : recipient.crowded || freeJobs <= pace);
  if (!isDone) await recipient.continueAt(new Date(now.getTime() + paceIntervalMs), nextPace(pace));
}

/** Sees also the deliveries of transactions that were open when the step began. */
async function hasMoreReady(transaction: Transaction<DB>, recipient: RecoveringRecipient): Promise<boolean> {
  await recipient.waitForWriters();
  return (await findReady(transaction, recipient.id, 1)).length > 0;
}
