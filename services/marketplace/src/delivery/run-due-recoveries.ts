import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Job } from "pg-boss";
import { recoveries } from "../queue/queues.ts";
import type { RecoveryStep } from "../recipients/recovery-jobs.ts";
import { recoverOrigin } from "./recover-origin.ts";
import { type RecoveryDeps, recoverRecipient } from "./recover-recipient.ts";

export interface DueRecoveryDeps extends RecoveryDeps {
  logger: Logger;
  stopped: AbortSignal;
}

const maxJobsPerFetch = 50;
/** Each step uses a database connection, and deliveries need some as well. */
const concurrency = 8;

/** Runs one step of each recovery that is due. A step that fails is retried after its lease expires and doesn't stop the others. */
export async function runDueRecoveries(deps: DueRecoveryDeps): Promise<void> {
  const { queue, logger, stopped } = deps;
  const boss = queue.boss();
  const jobs: Job<RecoveryStep>[] = [];
  let hasMore = true;
  const fetchMore = async (): Promise<void> => {
    const fetched = await boss.fetch<RecoveryStep>(recoveries, { batchSize: maxJobsPerFetch });
    hasMore = fetched.length === maxJobsPerFetch;
    jobs.push(...fetched);
  };
  const runJobs = async (): Promise<void> => {
    for (;;) {
      if (jobs.length === 0 && hasMore && !stopped.aborted) await fetchMore();
      const job = jobs.shift();
      if (job === undefined) return;
      await runStep(deps, job).catch((error: unknown) =>
        logger.warn(
          { err: error, [job.data?.isOrigin === true ? "originId" : "recipientId"]: job.id },
          "failed to run a recovery step; retrying after its lease expires",
        ),
      );
    }
  };
  await fetchMore();
  const runs = await Promise.allSettled(Array.from({ length: concurrency }, runJobs));
  const failed = runs.find((run) => run.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

const runStep = (deps: RecoveryDeps, { id, retryCount, data }: Job<RecoveryStep>): Promise<void> =>
  data?.isOrigin === true
    ? recoverOrigin(deps, { id, retryCount }, data)
    : recoverRecipient(deps, { id, retryCount }, data?.pace);
