import { useGenericPlans } from "@ehr-marketplace/service-kit/database";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { deliveries } from "../queue/queues.ts";
import { delayRecoveryEnd } from "../recipients/recovery-locks.ts";
import {
  type ClaimedDelivery,
  type ClaimRequest,
  claimDeliveries,
  deferClaim,
  dropForDeletedEndpoints,
  findNotQueued,
  lockOwnedJobs,
  returnHeldToWaiting,
  setWorker,
} from "./claim-store.ts";
import { type DeliveryJob, deleteOwnedJobs, fetchJobs, insertJobs, isNew, recipientOf } from "./delivery-jobs.ts";

export interface ClaimDeps {
  database: Kysely<DB>;
  queue: Queue;
  clock: () => Date;
}

export const isProbe = (job: DeliveryJob): boolean => job.data?.probe === true;

/** Deliveries whose attempts are inserted, by id. The others can't be sent now. */
export type Claimed = Map<string, ClaimedDelivery>;

const toClaimRequest = (jobs: DeliveryJob[], workerId: number | null, now: Date): ClaimRequest => ({
  ids: jobs.map(({ id }) => id),
  probes: jobs.filter(isProbe).map(({ id }) => id),
  workerId,
  now,
});
const byId = (claimed: ClaimedDelivery[]): Claimed => new Map(claimed.map((delivery) => [delivery.id, delivery]));

/** Inserts the attempts of deliveries that this worker has fetched before. */
export async function claim(
  { database, clock }: Omit<ClaimDeps, "queue">,
  jobs: DeliveryJob[],
  workerId: number | null,
): Promise<Claimed> {
  const request = toClaimRequest(jobs, workerId, clock());
  return byId(await claimDeliveries(database, { ...request, onlyOwned: workerId !== null }));
}

export interface FetchRequest {
  /** One of few values: see `scheduler.ts`. */
  limit: number;
  ignoredRecipients: string[];
}

/**
 * Fetches jobs, and claims those that `choose` returns. It is one transaction, so that each job has a known owner from the moment it is
 * fetched: if this worker dies, another one takes the jobs over.
 */
export async function fetchAndClaim(
  { database, queue, clock }: ClaimDeps,
  request: FetchRequest,
  choose: (jobs: DeliveryJob[]) => DeliveryJob[],
  workerId: number,
): Promise<Claimed> {
  const readClaimed = await database.transaction().execute(async (transaction) => {
    await useGenericPlans(transaction);
    const jobs = await fetchJobs(transaction, queue, request);
    if (jobs.length === 0) return () => [];
    const chosen = choose(jobs);
    const waiting = jobs.filter((job) => !chosen.includes(job)).map(({ id }) => id);
    await setWorker(transaction, waiting, workerId);
    return deferClaim(transaction, toClaimRequest(chosen, workerId, clock()));
  });
  return byId(await readClaimed());
}

const requeueDelayMs = 1_000;

/**
 * Returns jobs that were fetched but not claimed. Deliveries to a held recipient or origin are set to waiting, and settled ones lose
 * their job.
 * The others get a new job that starts after a delay, so that a delivery that can't be claimed doesn't make workers spin.
 */
export async function returnUnclaimedJobs(
  { database, queue, clock }: ClaimDeps,
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
