import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Kysely } from "kysely";
import type { DB } from "../../database-schema.ts";
import { recoveries } from "../../queue/queues.ts";
import { queueHeads } from "./delivery-store.ts";
import { endJobs, planRecovery, sendJobs } from "./jobs.ts";
import { betweenPaces, firstPace, longestHold, nextPace } from "./retry-schedule.ts";
import { lockRecipient } from "./settle-store.ts";

export interface Recovering {
  database: Kysely<DB>;
  queue: Queue;
  clock: () => Date;
}

/**
 * The next step of a recipient's recovery. Held: its oldest delivery goes out as a probe. Back: some more of what waited is
 * let go, each step twice as many as the one before, until nothing waits that could go.
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
      const [oldest] = await queueHeads(transaction, recipient.id, 1);
      if (oldest !== undefined) await sendJobs(transaction, queue, [{ ...oldest, probe: true }]);
      // Nothing waits that could show whether it is back: the next event will.
      else await update.set({ status: "active", held_since: null, failures_in_row: 0, probes: 0 }).execute();
      return;
    }
    const ready = await queueHeads(transaction, recipient.id, pace);
    await sendJobs(transaction, queue, ready);
    if (ready.length < pace) return;
    const startAfter = new Date(now.getTime() + betweenPaces);
    await planRecovery(transaction, queue, recipient.id, { pace: nextPace(pace), startAfter });
  });
}
