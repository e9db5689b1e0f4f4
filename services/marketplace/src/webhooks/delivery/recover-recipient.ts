import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Kysely } from "kysely";
import type { DB } from "../../database-schema.ts";
import { recoveries } from "../../queue/queues.ts";
import { deleteOwnedJobs, insertJobs, scheduleRecovery } from "./delivery-jobs.ts";
import { countQueued, findNextProbe, findReady, queueWaiting, setProbe } from "./queue-store.ts";
import { activeState, isUnreachable, lockRecipient } from "./recipient-store.ts";
import { firstPace, maxHeldMs, maxQueuedPerRecipient, nextPace, paceIntervalMs } from "./retry-schedule.ts";

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
    const recipient = await lockRecipient(transaction, job.id);
    const owned = await deleteOwnedJobs(transaction, queue, recoveries, [job]);
    if (owned.size === 0 || recipient.status === "disabled") return;
    const now = clock();
    const update = transaction.updateTable("recipients").where("id", "=", recipient.id);
    const heldFor = recipient.held_since === null ? 0 : now.getTime() - recipient.held_since.getTime();
    if (recipient.status === "held" && recipient.kind === "endpoint" && heldFor > maxHeldMs) {
      const disabled_reason = "it has been failing for five days";
      await update.set({ status: "disabled", disabled_at: now, disabled_reason }).execute();
      return;
    }
    if (recipient.status === "held") {
      // Without a callback it stays held until the organisation sets one.
      if (await isUnreachable(transaction, recipient.id)) return;
      const next = await findNextProbe(transaction, recipient);
      if (next === undefined) {
        // Nothing is waiting that could be a probe: the next event shows whether the recipient works.
        await update.set(activeState).execute();
        return;
      }
      const [probe] = await queueWaiting(transaction, [next]);
      if (probe === undefined) {
        // Another transaction has locked the delivery.
        const startAfter = new Date(now.getTime() + paceIntervalMs);
        await scheduleRecovery(transaction, queue, recipient.id, { startAfter });
        return;
      }
      await setProbe(transaction, recipient.id, probe.id);
      await insertJobs(transaction, queue, [{ ...probe, probe: true }]);
      return;
    }
    const freeJobs = Math.max(0, maxQueuedPerRecipient - (await countQueued(transaction, recipient.id)));
    const batchSize = Math.min(pace, freeJobs);
    const ready = await findReady(transaction, recipient.id, batchSize);
    await insertJobs(transaction, queue, await queueWaiting(transaction, ready));
    const isDone = batchSize > 0 && ready.length < batchSize;
    const crowded = isDone ? false : recipient.crowded || freeJobs <= pace;
    if (crowded !== recipient.crowded) await update.set({ crowded }).execute();
    if (isDone) return;
    const startAfter = new Date(now.getTime() + paceIntervalMs);
    await scheduleRecovery(transaction, queue, recipient.id, { pace: nextPace(pace), startAfter });
  });
}
