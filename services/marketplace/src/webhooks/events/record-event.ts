import type { Transaction } from "kysely";
import { v7 as uuid } from "uuid";
import type { DB } from "../../database-schema.ts";
import { payloadOf, type SubscriptionChange } from "./event.ts";
import { insertEvent } from "./event-store.ts";

/**
 * Freezes what happened, in the transaction that makes it happen: both commit, or neither. The caller holds the
 * subscription's row, so that no other change can take the same place in its sequence.
 */
export async function recordEvent(transaction: Transaction<DB>, change: SubscriptionChange): Promise<void> {
  await insertEvent(transaction, {
    id: uuid(),
    event: change.event,
    subscription_id: change.subscription.id,
    sequence: change.sequence,
    occurred_at: change.occurredAt,
    payload: payloadOf(change),
  });
}
