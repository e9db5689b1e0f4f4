import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import { fromKysely } from "pg-boss";
import type { DB } from "../../database-schema.ts";
import { replays } from "../../queue/queues.ts";

/** A replay's one job, with its own id: there is never a second step at the same time. */
export async function planStep(
  transaction: Transaction<DB>,
  queue: Queue,
  id: string,
  startAfter: Date,
): Promise<void> {
  const boss = queue.boss();
  const job = { id, data: {}, startAfter: startAfter.toISOString() };
  await boss.insert(replays, [job], { db: fromKysely(transaction), returnId: false });
}

export async function dropStep(transaction: Transaction<DB>, queue: Queue, id: string): Promise<void> {
  const boss = queue.boss();
  await boss.deleteJob(replays, id, { db: fromKysely(transaction) });
}
