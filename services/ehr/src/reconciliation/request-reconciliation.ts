import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Transaction } from "kysely";
import { fromKysely } from "pg-boss";
import type { DB } from "../database-schema.ts";
import { reconciliations } from "../queues.ts";

/**
 * Once the transaction has committed, one job for the organisation and the reason; where one waits already, that is it. The night's job
 * may wait for hours, and so has a key of its own.
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
