import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import { fromKysely } from "pg-boss";
import type { DB } from "../database-schema.ts";
import { replays } from "../queue/queues.ts";

/** Inserts the job of the replay's next step. The job has the replay's id, so two steps never run at the same time. */
export async function scheduleStep(
  transaction: Transaction<DB>,
  queue: Queue,
  id: string,
  startAfter: Date,
): Promise<void> {
  const boss = queue.boss();
  const job = { id, data: {}, startAfter: startAfter.toISOString() };
  await boss.insert(replays, [job], { db: fromKysely(transaction), returnId: false });
}

export async function deleteStep(transaction: Transaction<DB>, queue: Queue, id: string): Promise<void> {
  const boss = queue.boss();
  await boss.deleteJob(replays, id, { db: fromKysely(transaction) });
}
