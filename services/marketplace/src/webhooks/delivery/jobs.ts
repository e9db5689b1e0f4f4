import type { Queue } from "@ehr-marketplace/service-kit/queue";
import { sql, type Transaction } from "kysely";
import { fromKysely, type JobWithMetadata } from "pg-boss";
import type { DB } from "../../database-schema.ts";
import { deliveries, recoveries } from "../../queue/queues.ts";

/** As it is fetched. */
export type DeliveryJob = JobWithMetadata<{ probe?: boolean; again?: boolean }>;
export const recipientOf = (job: DeliveryJob): string => job.groupId ?? job.id;
export const isNew = (job: DeliveryJob): boolean => job.data?.again !== true;

export interface ReadyDelivery {
  id: string;
  recipient_id: string;
  probe?: boolean;
  /** It was settled before, and somebody wants it sent again: what is new goes before it. */
  again?: boolean;
  startAfter?: Date;
}

/** A job for each delivery, with the delivery's own id: a second one for the same can't exist. */
export async function sendJobs(transaction: Transaction<DB>, queue: Queue, ready: ReadyDelivery[]): Promise<void> {
  if (ready.length === 0) return;
  const boss = queue.boss();
  const jobs = ready.map(({ id, recipient_id, probe, again, startAfter }) => ({
    id,
    data: { ...(probe === true ? { probe } : {}), ...(again === true ? { again } : {}) },
    group: { id: recipient_id },
    ...(startAfter === undefined ? {} : { startAfter: startAfter.toISOString() }),
  }));
  await boss.insert(deliveries, jobs, { db: fromKysely(transaction), returnId: false });
}

/**
 * Those of these jobs that are still as they were fetched. Their count of leases won't do: a job that was planned anew has the
 * same id and counts from nothing.
 */
export async function lockJobs(
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

interface EndedJobs {
  settled?: string[];
}

/** Ends the jobs that are still ours: one whose lease is over may be another worker's by now. Answers which those were. */
export async function endJobs(
  transaction: Transaction<DB>,
  queue: Queue,
  name: string,
  jobs: { id: string; retryCount: number }[],
): Promise<Set<string>> {
  const boss = queue.boss();
  // The library's type of its answer is empty; its documentation and code name what is in it.
  const { settled = [] } = (await boss.deleteJob(name, jobs, { db: fromKysely(transaction) })) as EndedJobs;
  return new Set(settled);
}

/** A recipient's one recovery job, with its own id: whatever was planned for it is replaced. */
export async function planRecovery(
  transaction: Transaction<DB>,
  queue: Queue,
  recipientId: string,
  step: { pace?: number; startAfter: Date },
): Promise<void> {
  const boss = queue.boss();
  const db = fromKysely(transaction);
  await boss.deleteJob(recoveries, recipientId, { db });
  const { pace, startAfter } = step;
  const job = { id: recipientId, data: pace === undefined ? {} : { pace }, startAfter: startAfter.toISOString() };
  await boss.insert(recoveries, [job], { db, returnId: false });
}
