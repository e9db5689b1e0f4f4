import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Role } from "@ehr-marketplace/service-kit/tokens";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { lockAnySubscription } from "../subscriptions/lock-subscription.ts";
import { enforceSpendLimit } from "./enforce-spend-limit.ts";
import { findLimited, findSpendLimit } from "./spend-limit-store.ts";

const batchSize = 100;

interface CheckDeps {
  database: Kysely<DB>;
  queue: Queue;
  clock: () => Date;
  logger: Logger;
  stopped: AbortSignal;
}

/** Usage is checked when it is reported, also against defaults. What a day costs is checked daily, after it has begun. */
export async function checkSpendLimits({ database, queue, clock, logger, stopped }: CheckDeps): Promise<void> {
  let after: string | null = null;
  do {
    const ids: string[] = await findLimited(database, after, batchSize);
    for (const id of ids) {
      if (stopped.aborted) return;
      await checkOne({ database, queue, clock }, id).catch((error: unknown) => {
        logger.error({ err: error, subscription: id }, "failed to check a spend limit; retrying tomorrow");
      });
    }
    after = ids.at(-1) ?? null;
  } while (after !== null);
}

async function checkOne({ database, queue, clock }: Pick<CheckDeps, "database" | "queue" | "clock">, id: string) {
  await database.transaction().execute(async (transaction) => {
    const locked = await lockAnySubscription(transaction, id);
    if (locked?.row.status !== "active") return;
    const stored = await findSpendLimit(transaction, id);
    if (stored === undefined) return;
    const { issuer, subject, role, requestId } = stored.setBy;
    const by = { caller: { issuer, subject }, requestId, role: role as Role };
    await enforceSpendLimit(transaction, queue, { id, limit: { ...stored, isDefault: false }, by, now: clock() });
  });
}
