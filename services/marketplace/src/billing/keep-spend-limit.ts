import type { Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { copySpendLimit } from "./spend-limit-store.ts";

/** A subscription that follows another one has its limit. Returns whether it had one. */
export function keepSpendLimit(transaction: Transaction<DB>, between: { from: string; to: string }): Promise<boolean> {
  return copySpendLimit(transaction, between);
}
