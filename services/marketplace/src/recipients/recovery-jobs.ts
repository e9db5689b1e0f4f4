import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import { fromKysely } from "pg-boss";
import type { DB } from "../database-schema.ts";
import { recoveries } from "../queue/queues.ts";

/** How many deliveries of a recipient, or recipients of an origin, a step releases. */
export interface RecoveryStep {
  pace?: number;
  /** Set for a callback origin. */
  isOrigin?: true;
  /** Of an origin: the recipient with which the step before ended. */
  after?: string;
}

interface PlannedStep {
  startAfter: Date;
  pace?: number | undefined;
}

/** Replaces the recipient's recovery job. */
export async function scheduleRecovery(
  transaction: Transaction<DB>,
  queue: Queue,
  recipientId: string,
  { startAfter, pace }: PlannedStep,
): Promise<void> {
  await replaceJob(transaction, queue, recipientId, startAfter, pace === undefined ? {} : { pace });
}

/** Replaces the origin's recovery job. */
export async function scheduleOriginRecovery(
  transaction: Transaction<DB>,
  queue: Queue,
  originId: string,
  { startAfter, pace, after }: PlannedStep & { pace: number; after?: string | undefined },
): Promise<void> {
  const data: RecoveryStep = { isOrigin: true, pace, ...(after === undefined ? {} : { after }) };
  await replaceJob(transaction, queue, originId, startAfter, data);
}

/** The job has the id of its recipient or origin, so there is at most one. */
async function replaceJob(
  transaction: Transaction<DB>,
  queue: Queue,
  id: string,
  startAfter: Date,
  data: RecoveryStep,
): Promise<void> {
  const boss = queue.boss();
  const db = fromKysely(transaction);
  await boss.deleteJob(recoveries, id, { db });
  await boss.insert(recoveries, [{ id, data, startAfter: startAfter.toISOString() }], { db, returnId: false });
}
