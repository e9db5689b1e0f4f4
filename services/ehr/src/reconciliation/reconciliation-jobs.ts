import { setTimeout as delay } from "node:timers/promises";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Kysely } from "kysely";
import type { JobResult, PgBoss } from "pg-boss";
import type { DB } from "../database-schema.ts";
import { listOrganisationsToReconcile } from "../organisations/reconciliation-state.ts";
import { reconciliations } from "../queues.ts";
import { type ReconciliationDeps, reconcile } from "./reconcile.ts";
import { MarketplaceRefusalError, MarketplaceUnavailableError } from "./reconciliation-errors.ts";

const hourMs = 3_600_000;
/** Skips organisations that the same night's run has reconciled already, if the job is repeated. */
const skippedWithinMs = 12 * hourMs;
const spreadMs = 4 * hourMs;
const batchSize = 4;
const retryDelayMs = 5_000;

/** Sends one job for each organisation, spread over hours to limit the load on the marketplace. */
export async function requestAllReconciliations(
  { database, queue, clock }: { database: Kysely<DB>; queue: Queue; clock: () => Date },
  random: () => number = Math.random,
): Promise<void> {
  const boss = queue.boss();
  const now = clock().getTime();
  for await (const aliases of listOrganisationsToReconcile(database, new Date(now - skippedWithinMs))) {
    const jobs = aliases.map((alias) => ({
      data: { alias },
      singletonKey: alias,
      startAfter: new Date(now + random() * spreadMs).toISOString(),
    }));
    await boss.insert(reconciliations, jobs, { returnId: false });
  }
}

/** Runs reconciliation jobs, a few concurrently. */
export async function workReconciliations(boss: PgBoss, deps: ReconciliationDeps): Promise<void> {
  const options = { batchSize, burstWhenBatchFull: true, perJobResults: true } as const;
  await boss.work<{ alias: string }, JobResult[], typeof options>(reconciliations, options, (jobs) =>
    Promise.all(jobs.map(({ id, data }) => runReconciliationJob(id, data.alias, deps))),
  );
}

async function runReconciliationJob(id: string, alias: string, deps: ReconciliationDeps): Promise<JobResult> {
  try {
    await reconcile(deps, alias);
    return { id, status: "completed" };
  } catch (error) {
    if (error instanceof MarketplaceRefusalError) {
      // The message has the reason; a stack would look like a defect of this service.
      deps.logger.error(
        { orgAlias: alias, reason: error.message },
        "the marketplace refused to reconcile an organisation; retrying in the nightly run",
      );
      return { id, status: "completed" };
    }
    deps.logger.warn({ err: error }, "failed to reconcile an organisation; the job will retry");
    // Without a delay, a quarter of a million jobs would fail in quick succession while the marketplace is unavailable.
    if (error instanceof MarketplaceUnavailableError) await delay(retryDelayMs, undefined, { ref: false });
    return { id, status: "failed" };
  }
}
