import type { Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { blockRecoveryEnd, findOpen } from "./recipient-store.ts";

/**
 * Of recipients that were read as not open, without a lock, returns those that are open now: active, not crowded, and with an origin that is not held. Deliveries to
 * the others may stay waiting: until the commit no recovery of theirs can end, and then it finds these deliveries. The caller takes
 * no further lock that others hold.
 */
export async function findOpened(transaction: Transaction<DB>, recipientIds: string[]): Promise<Set<string>> {
  await blockRecoveryEnd(transaction, recipientIds);
  return new Set(await findOpen(transaction, recipientIds));
}

export { blockRecoveryEnd } from "./recipient-store.ts";
