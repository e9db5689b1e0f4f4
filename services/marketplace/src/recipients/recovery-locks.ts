import type { Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { readAvailable, shareRecoveryLocks } from "./recipient-store.ts";

// A delivery that waits for its recipient or origin is queued by their recovery. Events read both without locking their rows, so a
// recovery could end between that read and the commit of the delivery, and nobody would queue it. So:
// - A transaction that leaves such deliveries waiting first shares the locks of the recoveries, and then reads the states again.
// - A recovery takes its lock alone before it ends, and then looks for waiting deliveries again.
// Whoever gets the lock second sees what the first has committed, because both read in a statement after the lock.

/** Of recipients that could not be sent to, returns those that are available now. Deliveries to the others may stay waiting. */
export async function findAvailable(transaction: Transaction<DB>, recipientIds: string[]): Promise<Set<string>> {
  await shareRecoveryLocks(transaction, recipientIds);
  return new Set(await readAvailable(transaction, recipientIds));
}

/** Keeps the recoveries of these recipients, and of the origins of their callbacks, from ending before the commit. */
export async function delayRecoveryEnd(transaction: Transaction<DB>, recipientIds: string[]): Promise<void> {
  await shareRecoveryLocks(transaction, recipientIds);
}
