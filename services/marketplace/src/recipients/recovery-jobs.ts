import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import { fromKysely } from "pg-boss";
import type { DB } from "../database-schema.ts";
import { recoveries } from "../queue/queues.ts";

/** The data of a recovery job. */
export interface RecoveryStep {
  /** How many deliveries of a recipient, or recipients of an origin, the step releases. */
  pace?: number;
  /** The job is that of a callback origin. */
  isOrigin?: true;
  /** Of an origin: the recipient with which the previous step ended. */
  after?: string;
  /** Of an origin that is active again: since when it was held. */
  heldSince?: string;
}

interface ScheduledStep {
  startAfter: Date;
  pace?: number | undefined;
}

export interface ScheduledOriginStep extends ScheduledStep {
  after?: string | undefined;
  heldSince?: Date | undefined;
}

/** Replaces the recipient's recovery job. */
export async function scheduleRecovery(
  transaction: Transaction<DB>,
  queue: Queue,
  recipientId: string,
  step: ScheduledStep,
): Promise<void> {
  await scheduleRecoveries(transaction, queue, [recipientId], step);
}

/** Replaces the recovery jobs of these recipients. */
export async function scheduleRecoveries(
  transaction: Transaction<DB>,
  queue: Queue,
  recipientIds: string[],
  { startAfter, pace }: ScheduledStep,
): Promise<void> {
  await replaceJobs(transaction, queue, recipientIds, startAfter, pace === undefined ? {} : { pace });
}

/** Replaces the origin's recovery job. */
export async function scheduleOriginRecovery(
  transaction: Transaction<DB>,
  queue: Queue,
  originId: string,
  { startAfter, pace, after, heldSince }: ScheduledOriginStep,
): Promise<void> {
  const data: RecoveryStep = {
    isOrigin: true,
    ...(pace === undefined ? {} : { pace }),
    ...(after === undefined ? {} : { after }),
    ...(heldSince === undefined ? {} : { heldSince: heldSince.toISOString() }),
  };
  await replaceJobs(transaction, queue, [originId], startAfter, data);
}

/** A job has the id of its recipient or origin, so there is at most one. */
async function replaceJobs(
  transaction: Transaction<DB>,
  queue: Queue,
  ids: string[],
  startAfter: Date,
  data: RecoveryStep,
): Promise<void> {
  if (ids.length === 0) return;
  const boss = queue.boss();
  const db = fromKysely(transaction);
  await boss.deleteJob(recoveries, ids, { db });
  const jobs = ids.map((id) => ({ id, data, startAfter: startAfter.toISOString() }));
  await boss.insert(recoveries, jobs, { db, returnId: false });
}
