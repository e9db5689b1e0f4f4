import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
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
