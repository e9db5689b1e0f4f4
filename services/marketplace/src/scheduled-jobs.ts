import {
  type Queue,
  retryUntilDone,
  runMaintenanceSteps,
  runScheduledJobs,
  type ScheduledJob,
} from "@ehr-marketplace/service-kit/queue";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import type { DB } from "./database-schema.ts";
import { dropOldAttempts, prepareAttemptPartitions, warnIfRetentionTooShort } from "./delivery/attempt-partitions.ts";
import type { DeliveryMetrics } from "./delivery/delivery-metrics.ts";
import { dropDeletedEndpointDeliveries } from "./delivery/drop-deleted-endpoint-deliveries.ts";
import { expireDeliveries } from "./delivery/expire-deliveries.ts";
import { sweepDeliveries } from "./delivery/sweep.ts";
import { deleteExpiredResponses } from "./idempotency/delete-expired-responses.ts";
import { scheduledJobs } from "./queue/queues.ts";

export interface MaintenanceDeps {
  database: Kysely<DB>;
  queue: Queue;
  clock: () => Date;
  logger: Logger;
  metrics: DeliveryMetrics;
  logDays: number;
  /** Scheduled jobs of other features. */
  jobs: Record<string, ScheduledJob>;
  stopped: AbortSignal;
}

export async function runMaintenance({ database, clock, logger, logDays, stopped }: MaintenanceDeps): Promise<void> {
  const now = clock();
  const steps = {
    "create partitions of the delivery log": () => prepareAttemptPartitions(database, now),
    "check retention of the delivery log": () => warnIfRetentionTooShort(database, logDays, logger),
    "drop old partitions of the delivery log": () => dropOldAttempts(database, now, logDays),
    "delete expired idempotent responses": () => deleteExpiredResponses(database, now, { stopped }),
    "expire deliveries to disabled endpoints": () => expireDeliveries(database, now, { stopped }),
  };
  await runMaintenanceSteps(steps, { logger, stopped });
}

async function registerScheduledJobs(deps: MaintenanceDeps): Promise<void> {
  const { database, queue, clock, metrics, stopped } = deps;
  await runScheduledJobs(queue.boss(), scheduledJobs, {
    sweep: {
      cron: "* * * * *",
      work: async () => metrics.recordSwept(await sweepDeliveries(database, queue, clock())),
    },
    "drop-deleted": {
      cron: "* * * * *",
      work: () => dropDeletedEndpointDeliveries({ database, queue }, clock(), { stopped }),
    },
    "keep-house": { cron: "7 * * * *", work: () => runMaintenance(deps) },
    ...deps.jobs,
  });
}

const retryDelayMs = 1_000;

/** Registers the scheduled jobs and runs maintenance once. Both are retried, as the database may be unavailable when the process starts. */
export async function startScheduledJobs(deps: MaintenanceDeps): Promise<void> {
  const { database, clock, logger, stopped } = deps;
  const retry = (failureMessage: string, work: () => Promise<void>): Promise<void> =>
    retryUntilDone({ work, failureMessage, pauseMs: retryDelayMs, logger, stopped });
  await Promise.all([
    retry("failed to register scheduled jobs", () => registerScheduledJobs(deps)),
    // After a week without any worker, today's partition is missing, and attempts would fail until the next scheduled run.
    retry("failed to create partitions of the delivery log", () => prepareAttemptPartitions(database, clock())).then(
      () => runMaintenance(deps),
    ),
  ]);
}
