import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { lockAnySubscription } from "../subscriptions/lock-subscription.ts";
import { enforceSpendLimit } from "./enforce-spend-limit.ts";
import { findLimited } from "./spend-limit-store.ts";

const batchSize = 100;

/** Usage is checked when it is reported. What a day costs is checked daily, after it has begun. */
export async function checkSpendLimits({
  database,
  queue,
  clock,
  stopped,
}: {
  database: Kysely<DB>;
  queue: Queue;
  clock: () => Date;
  stopped: AbortSignal;
}): Promise<void> {
  let after: string | null = null;
  do {
    const ids: string[] = await findLimited(database, after, batchSize);
    for (const id of ids) {
      if (stopped.aborted) return;
      await database.transaction().execute(async (transaction) => {
        const locked = await lockAnySubscription(transaction, id);
        if (locked?.row.status === "active") await enforceSpendLimit(transaction, queue, id, clock());
      });
    }
    after = ids.at(-1) ?? null;
  } while (after !== null);
}
