import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import { fromKysely } from "pg-boss";
import type { DB } from "../database-schema.ts";
import { recoveries } from "../queue/queues.ts";

/** Replaces the recipient's recovery job. The job has the recipient's id, so there is at most one. */
export async function scheduleRecovery(
  transaction: Transaction<DB>,
  queue: Queue,
  recipientId: string,
  step: { pace?: number | undefined; startAfter: Date },
): Promise<void> {
  const boss = queue.boss();
  const db = fromKysely(transaction);
  await boss.deleteJob(recoveries, recipientId, { db });
  const { pace, startAfter } = step;
  const job = { id: recipientId, data: pace === undefined ? {} : { pace }, startAfter: startAfter.toISOString() };
  await boss.insert(recoveries, [job], { db, returnId: false });
}
