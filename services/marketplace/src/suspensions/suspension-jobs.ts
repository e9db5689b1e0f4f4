import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import { fromKysely } from "pg-boss";
import type { DB } from "../database-schema.ts";
import { suspensions } from "../queue/queues.ts";

/** Inserts the job of the suspension's next step. The job has the suspension's id, so two steps never run at the same time. */
export async function scheduleStep(
  transaction: Transaction<DB>,
  queue: Queue,
  id: string,
  startAfter?: Date,
): Promise<void> {
  const job = { id, data: {}, ...(startAfter === undefined ? {} : { startAfter: startAfter.toISOString() }) };
  await queue.boss().insert(suspensions, [job], { db: fromKysely(transaction), returnId: false });
}

/** The same where there may be a job already. A worker that has fetched it no longer owns it. */
export async function replaceStep(transaction: Transaction<DB>, queue: Queue, id: string): Promise<void> {
  await queue.boss().deleteJob(suspensions, id, { db: fromKysely(transaction) });
  await scheduleStep(transaction, queue, id);
}
