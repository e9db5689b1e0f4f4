import type { Transaction } from "kysely";
import type { DB } from "../database-schema.ts";
import { findEventTime } from "./event-store.ts";

export const maxEventsPerHour = 30;
const hourMs = 3_600_000;

/**
 * Milliseconds until a subscription may have its next event; 0 where it may have one now. The caller holds the lock on the
 * subscription's row, so the count is exact over all processes. Sequences have no gaps: one lookup in their index tells when
 * the event happened that must be an hour old.
 */
export async function msUntilNextEvent(
  transaction: Transaction<DB>,
  subscription: { id: string; revision: number },
  now: Date,
): Promise<number> {
  const sequence = subscription.revision + 1 - maxEventsPerHour;
  const at = sequence < 1 ? undefined : await findEventTime(transaction, subscription.id, sequence);
  return at === undefined ? 0 : Math.max(0, at.getTime() + hourMs - now.getTime());
}
