import { setTimeout as delay } from "node:timers/promises";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Kysely } from "kysely";
import type { JobResult, PgBoss } from "pg-boss";
import type { DB } from "../database-schema.ts";
import { organisationsToReconcile } from "../organisations/hold-organisation.ts";
import { reconciliations } from "../queues.ts";
import { MarketplaceAwayError, MarketplaceRefusesError } from "./marketplace-failures.ts";
import { type Reconciling, reconcile } from "./reconcile.ts";

const hour = 3_600_000;
/** Whoever was reconciled that lately was so tonight, by a job before this one was repeated. */
const tonightMs = 12 * hour;
const spreadMs = 4 * hour;
const atOnce = 4;
const untilAskedAgainMs = 5_000;

/** One job for each organisation, spread over hours: the marketplace has other things to do. */
export async function requestAllReconciliations(
  { database, queue, clock }: { database: Kysely<DB>; queue: Queue; clock: () => Date },
  random: () => number = Math.random,
): Promise<void> {
  const boss = queue.boss();
  const now = clock().getTime();
  for await (const aliases of organisationsToReconcile(database, new Date(now - tonightMs))) {
    const jobs = aliases.map((alias) => ({
      data: { alias },
      singletonKey: alias,
      startAfter: new Date(now + random() * spreadMs).toISOString(),
    }));
    await boss.insert(reconciliations, jobs, { returnId: false });
  }
}

/** Does them as they come due, a few at once. */
export async function workReconciliations(boss: PgBoss, reconciling: Reconciling): Promise<void> {
  const options = { batchSize: atOnce, burstWhenBatchFull: true, perJobResults: true } as const;
  await boss.work<{ alias: string }, JobResult[], typeof options>(reconciliations, options, (jobs) =>
    Promise.all(jobs.map(({ id, data }) => reconciledBy(id, data.alias, reconciling))),
  );
}

async function reconciledBy(id: string, alias: string, reconciling: Reconciling): Promise<JobResult> {
  try {
    await reconcile(reconciling, alias);
    return { id, status: "completed" };
  } catch (error) {
    if (error instanceof MarketplaceRefusesError) {
      reconciling.logger.error({ err: error, orgAlias: alias }, "an organisation can't be reconciled");
      return { id, status: "completed" };
    }
    reconciling.logger.warn({ err: error }, "nothing can be reconciled now; trying again later");
    // A quarter of a million jobs would otherwise fail one after the other as fast as they can.
    if (error instanceof MarketplaceAwayError) await delay(untilAskedAgainMs, undefined, { ref: false });
    return { id, status: "failed" };
  }
}
