import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import { fromKysely } from "pg-boss";
import type { DB } from "../../database-schema.ts";
import { deliveries, recoveries } from "../../queue/queues.ts";

export interface ReadyDelivery {
  id: string;
  recipient_id: string;
  probe?: boolean;
  startAfter?: Date;
}

/** A job for each delivery, with the delivery's own id: a second one for the same can't exist. */
export async function sendJobs(transaction: Transaction<DB>, queue: Queue, ready: ReadyDelivery[]): Promise<void> {
  if (ready.length === 0) return;
  const boss = await queue.boss();
  const jobs = ready.map(({ id, recipient_id, probe, startAfter }) => ({
    id,
    data: probe === true ? { probe } : {},
    group: { id: recipient_id },
    ...(startAfter === undefined ? {} : { startAfter: startAfter.toISOString() }),
  }));
  await boss.insert(deliveries, jobs, { db: fromKysely(transaction), returnId: false });
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
  const boss = await queue.boss();
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
  const boss = await queue.boss();
  const db = fromKysely(transaction);
  await boss.deleteJob(recoveries, recipientId, { db });
  const { pace, startAfter } = step;
  const job = { id: recipientId, data: pace === undefined ? {} : { pace }, startAfter: startAfter.toISOString() };
  await boss.insert(recoveries, [job], { db, returnId: false });
}
