import type { PgBoss } from "pg-boss";
import type { Logger } from "../telemetry/logger.ts";

export interface ScheduledJob {
  cron: string;
  /** `once`: runs missed while no worker was running are made up for by one run. */
  missed?: "once" | "skip";
  work(): Promise<unknown>;
}

/** Schedules the jobs and works on them. Each run of a job is done by one process. */
export async function runScheduledJobs(boss: PgBoss, queue: string, jobs: Record<string, ScheduledJob>): Promise<void> {
  for (const [name, { cron, missed = "skip" }] of Object.entries(jobs)) {
    // The field is called `chore` in stored schedules and jobs.
    await boss.schedule(queue, cron, { chore: name }, { key: name, missed });
  }
  await boss.work<{ chore: string }>(queue, { pollingIntervalSeconds: 2 }, async (due) => {
    for (const { data } of due) await jobs[data.chore]?.work();
  });
}

/** Runs the steps in order. A failed step is logged, and the others still run. */
export async function runMaintenanceSteps(
  steps: Record<string, () => Promise<unknown>>,
  { logger, stopped }: { logger: Logger; stopped?: AbortSignal },
): Promise<void> {
  for (const [step, work] of Object.entries(steps)) {
    if (stopped?.aborted === true) return;
    await work().catch((error: unknown) =>
      logger.error({ err: error, step }, "failed to run maintenance step; retrying within an hour"),
    );
  }
}
