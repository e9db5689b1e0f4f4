import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely, Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { releaseJobs } from "./delivery-jobs.ts";
import { deleteDeadWorkers, deletePredecessors, findFetchedBy } from "./worker-store.ts";

export interface TakeOverDeps {
  database: Kysely<DB>;
  queue: Queue;
  logger: Logger;
}

/** Releases the jobs of workers that have died, so that they are fetched again at once. Returns how many. */
export const takeOverFromDeadWorkers = (deps: TakeOverDeps): Promise<number> =>
  takeOver(deps, (transaction) => deleteDeadWorkers(transaction));

/** The same for earlier workers on this host, without waiting for their heartbeat to be late. */
export const takeOverFromPredecessors = (deps: TakeOverDeps, host: string): Promise<number> =>
  takeOver(deps, (transaction) => deletePredecessors(transaction, host));

async function takeOver(
  { database, queue, logger }: TakeOverDeps,
  deleteDead: (transaction: Transaction<DB>) => Promise<number[]>,
): Promise<number> {
  return database.transaction().execute(async (transaction) => {
    const workerIds = await deleteDead(transaction);
    if (workerIds.length === 0) return 0;
    const ids = await findFetchedBy(transaction, workerIds);
    await releaseJobs(transaction, queue, ids);
    logger.warn({ workerIds, deliveries: ids.length }, "workers have died; taking over their deliveries");
    return ids.length;
  });
}

/** Releases jobs that this worker has fetched but doesn't know: the response to its commit was lost. */
export async function releaseUnknown(
  { database, queue, logger }: TakeOverDeps,
  workerId: number,
  known: string[],
): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    const ids = await findFetchedBy(transaction, [workerId], known);
    if (ids.length === 0) return;
    await releaseJobs(transaction, queue, ids);
    logger.warn({ deliveries: ids.length }, "deliveries were fetched without a response; retrying them");
  });
}
