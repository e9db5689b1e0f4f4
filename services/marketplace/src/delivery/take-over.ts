import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely, Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { type FetchedAttempt, releaseJobs } from "./delivery-jobs.ts";
import { deleteDeadWorkers, deletePredecessors, deleteWorker, findFetchedBy, tryLockTakeOver } from "./worker-store.ts";

export interface TakeOverDeps {
  database: Kysely<DB>;
  queue: Queue;
  logger: Logger;
}

/** Releases the jobs of workers that have died, so that they are fetched again at once. Returns how many. */
export const takeOverFromDeadWorkers = (deps: TakeOverDeps): Promise<number> => takeOver(deps, deleteDeadWorkers);

/** The same for earlier workers on this host, for a worker that starts: it doesn't know yet whether others are only disconnected. */
export const takeOverFromPredecessors = (deps: TakeOverDeps, host: string): Promise<number> =>
  takeOver(deps, (transaction) => deletePredecessors(transaction, host));

function takeOver(
  { database, queue, logger }: TakeOverDeps,
  deleteDead: (transaction: Transaction<DB>) => Promise<number[]>,
): Promise<number> {
  return database.transaction().execute(async (transaction) => {
    if (!(await tryLockTakeOver(transaction))) return 0;
    const workerIds = await deleteDead(transaction);
    if (workerIds.length === 0) return 0;
    const jobs = await findFetchedBy(transaction, workerIds);
    await releaseJobs(transaction, queue, jobs);
    logger.warn({ workerIds, deliveries: jobs.length }, "workers have died; taking over their deliveries");
    return jobs.length;
  });
}

/** Removes a worker that stops, and releases what it has fetched and not processed. */
export async function removeWorker({ database, queue }: TakeOverDeps, id: number): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await deleteWorker(transaction, id);
    await releaseJobs(transaction, queue, await findFetchedBy(transaction, [id]));
  });
}

/** Releases jobs that a worker may have fetched and doesn't process. */
export async function releaseLostJobs({ database, queue }: TakeOverDeps, jobs: FetchedAttempt[]): Promise<void> {
  await database.transaction().execute((transaction) => releaseJobs(transaction, queue, jobs));
}
