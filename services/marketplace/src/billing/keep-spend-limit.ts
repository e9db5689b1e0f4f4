import type { Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { copyReachedLimit } from "./reached-limit-store.ts";
import { copySpendLimit } from "./spend-limit-store.ts";

/** A subscription that follows another one has its limit, and has reached it if the other one had. */
export async function keepSpendLimit(
  transaction: Transaction<DB>,
  between: { from: string; to: string },
): Promise<void> {
  await copySpendLimit(transaction, between);
  await copyReachedLimit(transaction, between);
}
