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
  { because = "now", startAfter = 0 }: { because?: "now" | "quarantine" | "correction"; startAfter?: number } = {},
): Promise<void> {
  const boss = queue.boss();
  const job = { data: { alias }, singletonKey: `${alias} ${because}`, startAfter };
  await boss.insert(reconciliations, [job], { db: fromKysely(transaction), returnId: false });
}
