import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { deliveries } from "../queue/queues.ts";
import { delayRecoveryEnd } from "../recipients/recovery-locks.ts";
import {
  type ClaimedDelivery,
  claimDeliveries,
  dropForDeletedEndpoints,
  findNotQueued,
  lockOwnedJobs,
  returnHeldToWaiting,
} from "./claim-store.ts";
import { type DeliveryJob, deleteOwnedJobs, insertJobs, isNew, recipientOf } from "./delivery-jobs.ts";

export interface ClaimDeps {
  database: Kysely<DB>;
  queue: Queue;
  clock: () => Date;
  logger: Logger;
}

export const isProbe = (job: DeliveryJob): boolean => job.data?.probe === true;

/** Inserts the attempts of the jobs' deliveries, and returns the jobs of those that can't be sent now. */
export async function claim(deps: ClaimDeps, jobs: DeliveryJob[]): Promise<Map<string, ClaimedDelivery>> {
  const claimed = new Map<string, ClaimedDelivery>();
  try {
    const ids = jobs.map(({ id }) => id);
    const probes = jobs.filter(isProbe).map(({ id }) => id);
    const deliveriesToSend = await claimDeliveries(deps.database, { ids, probes, now: deps.clock() });
    for (const delivery of deliveriesToSend) claimed.set(delivery.id, delivery);
    await returnUnclaimedJobs(
      deps,
      jobs.filter(({ id }) => !claimed.has(id)),
    );
  } catch (error) {
    deps.logger.warn({ err: error }, "failed to claim deliveries; retrying after their leases expire");
  }
  return claimed;
}

const requeueDelayMs = 1_000;

/**
 * Returns jobs that were fetched but not claimed. Deliveries to a held recipient or origin are set to waiting, and settled ones lose
 * their job.
 * The others get a new job that starts after a delay, so that a delivery that can't be claimed doesn't make workers spin.
 */
export async function returnUnclaimedJobs(
  { database, queue, clock }: Omit<ClaimDeps, "logger">,
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
    await delayRecoveryEnd(transaction, [...new Set(jobs.map(recipientOf))]);
    await returnHeldToWaiting(transaction, ids);
    const withoutJob = new Set(await findNotQueued(transaction, ids));
    await deleteOwnedJobs(
      transaction,
      queue,
      deliveries,
      jobs.map(({ id, retryCount }) => ({ id, retryCount })),
    );
    const startAfter = new Date(now.getTime() + requeueDelayMs);
    const requeued = jobs
      .filter(({ id }) => !withoutJob.has(id))
      .map((job) => ({ id: job.id, recipient_id: recipientOf(job), isRedelivery: !isNew(job), startAfter }));
    await insertJobs(transaction, queue, requeued);
  });
}
