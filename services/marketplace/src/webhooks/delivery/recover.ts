import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Kysely } from "kysely";
import type { DB } from "../../database-schema.ts";
import { recoveries } from "../../queue/queues.ts";
import { endJobs, planRecovery, sendJobs } from "./jobs.ts";
import { countQueued, findNextProbe, findReady, queueWaiting, setProbe } from "./queue-store.ts";
import { isUnreachable, lockRecipient, untroubled } from "./recipient-store.ts";
import { betweenPaces, firstPace, longestHold, mostQueued, nextPace } from "./retry-schedule.ts";

export interface Recovering {
  database: Kysely<DB>;
  queue: Queue;
  clock: () => Date;
}

/**
 * The next step of a recipient's recovery. Held: one delivery goes out as a probe, the oldest first and then in turn. Back: some more of what waited is
 * let go, each step twice as many as the one before, until nothing waits that could go; and of what is slow, no more than
 * it can take.
 */
export async function recoverRecipient(
  { database, queue, clock }: Recovering,
  job: { id: string; retryCount: number },
  pace: number = firstPace,
): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    const recipient = await lockRecipient(transaction, job.id);
    const ours = await endJobs(transaction, queue, recoveries, [job]);
    if (ours.size === 0 || recipient.status === "disabled") return;
    const now = clock();
    const update = transaction.updateTable("recipients").where("id", "=", recipient.id);
    const heldFor = recipient.held_since === null ? 0 : now.getTime() - recipient.held_since.getTime();
    if (recipient.status === "held" && recipient.kind === "endpoint" && heldFor > longestHold) {
      const disabled_because = "it has been failing for five days";
      await update.set({ status: "disabled", disabled_at: now, disabled_because }).execute();
      return;
    }
    if (recipient.status === "held") {
      // Nowhere to go: it stays held, until somebody says where.
      if (await isUnreachable(transaction, recipient.id)) return;
      const next = await findNextProbe(transaction, recipient);
      if (next === undefined) {
        // Nothing waits that could show whether it is back: the next event will.
        await update.set(untroubled).execute();
        return;
      }
      const [probe] = await queueWaiting(transaction, [next]);
      if (probe === undefined) {
        // Another transaction has it locked.
        const startAfter = new Date(now.getTime() + betweenPaces);
        await planRecovery(transaction, queue, recipient.id, { startAfter });
        return;
      }
      await setProbe(transaction, recipient.id, probe.id);
      await sendJobs(transaction, queue, [{ ...probe, probe: true }]);
      return;
    }
    const room = Math.max(0, mostQueued - (await countQueued(transaction, recipient.id)));
    const step = Math.min(pace, room);
    const ready = await findReady(transaction, recipient.id, step);
    await sendJobs(transaction, queue, await queueWaiting(transaction, ready));
    const isOver = step > 0 && ready.length < step;
    const crowded = isOver ? false : recipient.crowded || room <= pace;
    if (crowded !== recipient.crowded) await update.set({ crowded }).execute();
    if (isOver) return;
    const startAfter = new Date(now.getTime() + betweenPaces);
    await planRecovery(transaction, queue, recipient.id, { pace: nextPace(pace), startAfter });
  });
}
