import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Kysely } from "kysely";
import type { DB } from "../../database-schema.ts";
import { deliveries } from "../../queue/queues.ts";
import { dropForDeletedEndpoints, findNotQueued, returnHeldToWaiting } from "./claim-store.ts";
import { type DeliveryJob, deleteOwnedJobs, insertJobs, isNew, lockOwnedJobs, recipientOf } from "./delivery-jobs.ts";

const retryDelayMs = 1_000;

/**
 * Returns jobs that were fetched but not claimed. Deliveries to a held recipient are set to waiting, and settled ones lose their job.
 * The others get a new job that starts after a delay, so that a delivery that can't be claimed doesn't make workers spin.
 */
export async function returnUnclaimedJobs(
  { database, queue, clock }: { database: Kysely<DB>; queue: Queue; clock: () => Date },
  unclaimed: DeliveryJob[],
): Promise<void> {
  if (unclaimed.length === 0) return;
  await database.transaction().execute(async (transaction) => {
    const owned = await lockOwnedJobs(transaction, unclaimed);
    const jobs = unclaimed.filter(({ id }) => owned.has(id));
    if (jobs.length === 0) return;
    const ids = jobs.map(({ id }) => id);
    const now = clock();
    await dropForDeletedEndpoints(transaction, ids, now);
    await returnHeldToWaiting(transaction, ids);
    const withoutJob = new Set(await findNotQueued(transaction, ids));
    await deleteOwnedJobs(
      transaction,
      queue,
      deliveries,
      jobs.map(({ id, retryCount }) => ({ id, retryCount })),
    );
    const startAfter = new Date(now.getTime() + retryDelayMs);
    const requeued = jobs
      .filter(({ id }) => !withoutJob.has(id))
      .map((job) => ({ id: job.id, recipient_id: recipientOf(job), isRedelivery: !isNew(job), startAfter }));
    await insertJobs(transaction, queue, requeued);
  });
}
