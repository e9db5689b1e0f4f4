import { once } from "node:events";
import type { PgBoss } from "pg-boss";
import type { Logger } from "../telemetry/logger.ts";
import type { Queue } from "./queue.ts";
import { retryUntilDone } from "./run-repeatedly.ts";

export interface ScheduledJob {
  cron: string;
  /** `once`: runs missed while no worker was running are made up for by one run. */
  missed?: "once" | "skip";
  work(): Promise<unknown>;
}

/** The scheduled jobs of a process. */
export interface ScheduledWork {
  /** The queue that the schedules send jobs to. */
  queueName: string;
  jobs: Record<string, ScheduledJob>;
  /**
   * Maintenance that can't wait for its schedule when the process starts. Retried until it resolves: steps of `runMaintenanceSteps` are
   * not, because a failed one is only logged.
   */
  runAtStartup(): Promise<void>;
}

/** Registers the worker of a queue. */
export type RegisterWorker = (boss: PgBoss) => Promise<void>;

const retryDelayMs = 1_000;

/**
 * Registers the scheduled jobs and the workers of other queues, and runs the maintenance of the startup. The database may be unavailable
 * when the process starts, so each is retried until it succeeds once, independently of the others.
 */
export async function startScheduledJobs(
  { queue, logger, stopped }: { queue: Queue; logger: Logger; stopped: AbortSignal },
  scheduled: ScheduledWork,
  workers: RegisterWorker[] = [],
): Promise<void> {
  // The queue retries its start and logs the reason; each of the retries below would log once more that it hasn't started.
  if (!stopped.aborted) await Promise.race([queue.started, once(stopped, "abort")]);
  const retry = (failureMessage: string, work: RegisterWorker): Promise<void> =>
    retryUntilDone({
      work: async () => work(queue.boss()),
      failureMessage,
      pauseMs: retryDelayMs,
      logger,
      stopped,
    });
  await Promise.all([
    retry("failed to register scheduled jobs", (boss) => registerScheduledJobs(boss, logger, scheduled)),
    ...workers.map((register) => retry("failed to register a queue worker", register)),
    retry("failed to run maintenance at startup", () => scheduled.runAtStartup()),
  ]);
}

/** Each run of a job is done by one process. */
async function registerScheduledJobs(boss: PgBoss, logger: Logger, { queueName, jobs }: ScheduledWork): Promise<void> {
  for (const [name, { cron, missed = "skip" }] of Object.entries(jobs)) {
    // The field is called `chore` in stored schedules and jobs.
    await boss.schedule(queueName, cron, { chore: name }, { key: name, missed });
  }
  await boss.work<{ chore: string }>(queueName, { pollingIntervalSeconds: 2 }, async (due) => {
    for (const { data } of due) await runScheduledJob(data.chore, jobs, logger);
  });
}

async function runScheduledJob(job: string, jobs: ScheduledWork["jobs"], logger: Logger): Promise<void> {
  const scheduled = jobs[job];
  // During an upgrade, processes of another version may have scheduled it.
  if (scheduled === undefined) {
    logger.warn({ job }, "ignored a scheduled job that this version doesn't have");
    return;
  }
  try {
    await scheduled.work();
  } catch (error) {
    // Also rethrown, so that pg-boss stores the job as failed; it logs nothing.
    logger.error({ err: error, job }, "failed to run a scheduled job; retrying at its next scheduled time");
    throw error;
  }
}

/** Runs the steps in order. A failed step is logged, and the others still run. */
export async function runMaintenanceSteps(
  steps: Record<string, () => Promise<unknown>>,
  { logger, stopped }: { logger: Logger; stopped: AbortSignal },
): Promise<void> {
  for (const [step, work] of Object.entries(steps)) {
    if (stopped.aborted) return;
    await work().catch((error: unknown) =>
      logger.error({ err: error, step }, "failed to run maintenance step; retrying within an hour"),
    );
  }
}
