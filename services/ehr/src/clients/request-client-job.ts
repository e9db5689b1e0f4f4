import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import { fromKysely } from "pg-boss";
import type { DB } from "../database-schema.ts";
import { clientRegistrations } from "../queues.ts";

/** The data of a job. */
export type ClientJob =
  /** After an installation has changed: the app's client for this organisation, or for all. */
  | { appSlug: string; orgAlias: string }
  /** With `isToCheck`, an operator doubts that the authorization server has the client. */
  | { id: string; isToCheck?: true }
  /** The app's metadata may have changed. Hourly; with `isChanged`, after the app has changed: then even the last minute's is too old. */
  | { refresh: string; isChanged?: true };

const keyOf = (job: ClientJob): string => {
  if ("id" in job) return `${job.id}${job.isToCheck === true ? " check" : ""}`;
  if (!("refresh" in job)) return `${job.appSlug} ${job.orgAlias}`;
  // The hourly one may be queued for later.
  return `refresh ${job.refresh}${job.isChanged === true ? " changed" : ""}`;
};

/**
 * Sends a job with the transaction, unless one is queued already. A running one doesn't suppress it, because that may have read the state
 * before the change.
 */
export async function requestClientJob(transaction: Transaction<DB>, queue: Queue, job: ClientJob): Promise<void> {
  await queue.boss().send(clientRegistrations, job, { singletonKey: keyOf(job), db: fromKysely(transaction) });
}

/** The same for a batch, without a transaction. */
export async function requestClientJobs(queue: Queue, jobs: ClientJob[], startAfter = (): number => 0): Promise<void> {
  if (jobs.length === 0) return;
  const inserted = jobs.map((data) => ({ data, singletonKey: keyOf(data), startAfter: startAfter() }));
  await queue.boss().insert(clientRegistrations, inserted, { returnId: false });
}
