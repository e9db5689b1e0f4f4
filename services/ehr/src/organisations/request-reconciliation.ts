import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import { fromKysely } from "pg-boss";
import type { DB } from "../database-schema.ts";
import { reconciliations } from "../queues.ts";

/**
 * Sends one job per organisation and reason with the transaction, unless one is queued already. The nightly job may be queued for hours, so
 * it has another key.
 */
export async function requestReconciliation(
  transaction: Transaction<DB>,
  queue: Queue,
  alias: string,
  reason: ReconciliationReason = {},
): Promise<void> {
  await requestReconciliations(transaction, queue, [alias], reason);
}

interface ReconciliationReason {
  because?: "now" | "quarantine" | "correction";
  startAfter?: number;
}

/** The same for several organisations, in one statement. */
export async function requestReconciliations(
  transaction: Transaction<DB>,
  queue: Queue,
  aliases: string[],
  { because = "now", startAfter = 0 }: ReconciliationReason = {},
): Promise<void> {
  if (aliases.length === 0) return;
  const jobs = aliases.map((alias) => ({ data: { alias }, singletonKey: `${alias} ${because}`, startAfter }));
  await queue.boss().insert(reconciliations, jobs, { db: fromKysely(transaction), returnId: false });
}
