import type { Queue } from "@ehr-marketplace/service-kit/queue";
import { sql, type Transaction } from "kysely";
import { fromKysely, type JobWithMetadata } from "pg-boss";
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
  await boss.insert(deliveries, jobs, { db: fromKysely(transaction), returnId: false });
}

/**
 * Locks the jobs that are still leased as they were fetched. `retryCount` can't tell: a job that was replaced has the same id and
 * starts from 0.
 */
export async function lockOwnedJobs(
  transaction: Transaction<DB>,
  jobs: { id: string; startedOn: Date }[],
): Promise<Set<string>> {
  const { rows } = await sql<{ id: string; startedOn: Date }>`
    select id, date_trunc('milliseconds', started_on) as "startedOn" from pgboss.job
    where name = ${deliveries} and id = any (${jobs.map(({ id }) => id)}::uuid[]) and state = 'active'
    order by id for update`.execute(transaction);
  const startedOn = new Map(rows.map((row) => [row.id, row.startedOn.getTime()]));
  return new Set(jobs.filter((job) => startedOn.get(job.id) === job.startedOn.getTime()).map(({ id }) => id));
}

interface DeletedJobs {
  settled?: string[];
}

/** Deletes the jobs that this worker still owns and returns their ids. A job whose lease expired may belong to another worker. */
export async function deleteOwnedJobs(
  transaction: Transaction<DB>,
  queue: Queue,
  name: string,
  jobs: { id: string; retryCount: number }[],
): Promise<Set<string>> {
  const boss = queue.boss();
  // pg-boss types the result as empty; its documentation and code have `settled`.
  const { settled = [] } = (await boss.deleteJob(name, jobs, { db: fromKysely(transaction) })) as DeletedJobs;
  return new Set(settled);
}
