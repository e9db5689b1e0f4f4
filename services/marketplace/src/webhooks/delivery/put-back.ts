import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Kysely } from "kysely";
import type { DB } from "../../database-schema.ts";
import { deliveries } from "../../queue/queues.ts";
import { dropForDeleted, findNotQueued, releaseHeld } from "./claim-store.ts";
import { type DeliveryJob, endJobs, isNew, lockJobs, recipientOf, sendJobs } from "./jobs.ts";

const soonMs = 1_000;

/**
 * What was fetched and can't be claimed. Those to a recipient that is held wait as rows; those that are settled need no job;
 * any others are queued anew, for a little later: whatever keeps them from being claimed must not make workers spin.
 */
export async function putBack(
  { database, queue, clock }: { database: Kysely<DB>; queue: Queue; clock: () => Date },
  unclaimed: DeliveryJob[],
): Promise<void> {
  if (unclaimed.length === 0) return;
  await database.transaction().execute(async (transaction) => {
    const ours = await lockJobs(transaction, unclaimed);
    const jobs = unclaimed.filter(({ id }) => ours.has(id));
    if (jobs.length === 0) return;
    const ids = jobs.map(({ id }) => id);
    const now = clock();
    await dropForDeleted(transaction, ids, now);
    await releaseHeld(transaction, ids);
    const idle = new Set(await findNotQueued(transaction, ids));
    await endJobs(
      transaction,
      queue,
      deliveries,
      jobs.map(({ id, retryCount }) => ({ id, retryCount })),
    );
    const startAfter = new Date(now.getTime() + soonMs);
    const again = jobs
      .filter(({ id }) => !idle.has(id))
      .map((job) => ({ id: job.id, recipient_id: recipientOf(job), again: !isNew(job), startAfter }));
    await sendJobs(transaction, queue, again);
  });
}
