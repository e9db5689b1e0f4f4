import { preparedJobs, type Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import type { JobWithMetadata } from "pg-boss";
import type { DB } from "../database-schema.ts";
import { deliveries } from "../queue/queues.ts";

/** A job as fetched. `again` marks redeliveries; the name is stored in queued jobs. */
export type DeliveryJob = JobWithMetadata<{ probe?: boolean; again?: boolean }>;
export const recipientOf = (job: DeliveryJob): string => job.groupId ?? job.id;
export const isNew = (job: DeliveryJob): boolean => job.data?.again !== true;

export interface ReadyDelivery {
  id: string;
  recipient_id: string;
  probe?: boolean;
  /** The delivery was settled before and is sent again; new events take precedence. */
  isRedelivery?: boolean;
  startAfter?: Date;
}

/** Inserts one job per delivery. The job has the delivery's id, so a delivery can't have two. */
export async function insertJobs(transaction: Transaction<DB>, queue: Queue, ready: ReadyDelivery[]): Promise<void> {
  if (ready.length === 0) return;
  const boss = queue.boss();
  const jobs = ready.map(({ id, recipient_id, probe, isRedelivery, startAfter }) => ({
    id,
    data: { ...(probe === true ? { probe } : {}), ...(isRedelivery === true ? { again: true } : {}) },
    group: { id: recipient_id },
    ...(startAfter === undefined ? {} : { startAfter: startAfter.toISOString() }),
  }));
  await boss.insert(deliveries, jobs, { db: preparedJobs(transaction, { isDeferred: true }), returnId: false });
}

/** Fetches due jobs of recipients other than the ignored ones. They belong to the caller once it commits. */
export function fetchJobs(
  transaction: Transaction<DB>,
  queue: Queue,
  { limit, ignoredRecipients }: { limit: number; ignoredRecipients: string[] },
): Promise<DeliveryJob[]> {
  return queue.boss().fetch(deliveries, {
    batchSize: limit,
    ignoreGroups: ignoredRecipients,
    includeMetadata: true,
    db: preparedJobs(transaction),
  });
}

/** A job as it was fetched: each fetch of a job has another retry count. */
export interface FetchedAttempt {
  id: string;
  retryCount: number;
}

/** Returns active jobs to the queue, to be fetched at once, unless they were fetched again. Their last owner can't settle them then. */
export async function releaseJobs(transaction: Transaction<DB>, queue: Queue, jobs: FetchedAttempt[]): Promise<void> {
  if (jobs.length === 0) return;
  const attempts = jobs.map(({ id, retryCount }) => ({ id, retryCount }));
  await queue.boss().fail(deliveries, attempts, undefined, { db: preparedJobs(transaction) });
}

interface DeletedJobs {
  settled?: string[];
}

/** Deletes the jobs that this worker still owns and returns their ids. A job that was taken over, or whose lease expired, may belong to another worker. */
export async function deleteOwnedJobs(
  transaction: Transaction<DB>,
  queue: Queue,
  name: string,
  jobs: { id: string; retryCount: number }[],
): Promise<Set<string>> {
  const boss = queue.boss();
  // pg-boss types the result as empty; its documentation and code have `settled`.
  const { settled = [] } = (await boss.deleteJob(name, jobs, { db: preparedJobs(transaction) })) as DeletedJobs;
  return new Set(settled);
}
