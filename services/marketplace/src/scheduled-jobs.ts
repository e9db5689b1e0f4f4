import { type Queue, runMaintenanceSteps, type ScheduledWork } from "@ehr-marketplace/service-kit/queue";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import { checkSpendLimits } from "./billing/check-spend-limits.ts";
import { rankCatalog } from "./catalog/rank-catalog.ts";
import type { DB } from "./database-schema.ts";
import { dropOldAttempts, prepareAttemptPartitions, warnIfRetentionTooShort } from "./delivery/attempt-partitions.ts";
import type { DeliveryMetrics } from "./delivery/delivery-metrics.ts";
import { dropDeletedEndpointDeliveries } from "./delivery/drop-deleted-endpoint-deliveries.ts";
import { expireDeliveries } from "./delivery/expire-deliveries.ts";
import { sweepDeliveries } from "./delivery/sweep.ts";
import { deleteExpiredResponses } from "./idempotency/run-idempotently.ts";
import { deleteUnusedMedia } from "./media/delete-unused-media.ts";
import type { MediaStorage } from "./media/media-storage.ts";
import { deleteOldNotices } from "./notices/delete-old-notices.ts";
import { scheduledJobs } from "./queue/queues.ts";
import { endCertifications } from "./reviews/end-certifications.ts";
import { notifyOfDueReviews } from "./reviews/notify-of-due-reviews.ts";
import { sweepSuspensions } from "./suspensions/run-suspension-step.ts";
import { dropOldUsage, prepareUsagePartitions } from "./usage/usage-partitions.ts";

export interface MaintenanceDeps {
  database: Kysely<DB>;
  queue: Queue;
  storage: MediaStorage;
  clock: () => Date;
  logger: Logger;
  metrics: DeliveryMetrics;
  logDays: number;
  stopped: AbortSignal;
}

export async function runMaintenance({ database, clock, logger, logDays, stopped }: MaintenanceDeps): Promise<void> {
  const now = clock();
  const steps = {
    "create partitions of the delivery log": () => prepareAttemptPartitions(database, now),
    "check retention of the delivery log": () => warnIfRetentionTooShort(database, logDays, logger),
    "drop old partitions of the delivery log": () => dropOldAttempts(database, now, logDays),
    "create partitions of usage": () => prepareUsagePartitions(database, now),
    "drop old partitions of usage": () => dropOldUsage(database),
    "delete expired idempotent responses": () => deleteExpiredResponses(database, now, { stopped }),
    "expire deliveries to disabled endpoints": () => expireDeliveries(database, now, { stopped }),
    "end certifications": () => endCertifications(database, { stopped }),
    "delete old notices": () => deleteOldNotices(database, now, { stopped }),
  };
  await runMaintenanceSteps(steps, { logger, stopped });
}

/** The scheduled jobs of the worker. */
export function createScheduledWork(deps: MaintenanceDeps): ScheduledWork {
  const { database, queue, clock, metrics, stopped } = deps;
  return {
    queueName: scheduledJobs,
    jobs: {
      sweep: {
        cron: "* * * * *",
        work: async () => metrics.recordSwept(await sweepDeliveries(database, queue, clock())),
      },
      "sweep-suspensions": {
        cron: "* * * * *",
        work: async () => {
          const swept = await sweepSuspensions(deps);
          if (swept > 0) deps.logger.warn({ swept }, "queued suspensions that had no job");
        },
      },
      "drop-deleted": {
        cron: "* * * * *",
        work: () => dropDeletedEndpointDeliveries({ database, queue }, clock(), { stopped }),
      },
      "keep-house": { cron: "7 * * * *", work: () => runMaintenance(deps) },
      // The last day of a certification ends at midnight in UTC.
      "end-certifications": { cron: "0 0 * * *", work: () => endCertifications(database, { stopped }) },
      // A day is charged from its start.
      "check-spend-limits": { cron: "10 0 * * *", missed: "once", work: () => checkSpendLimits(deps) },
      "notify-of-due-reviews": { cron: "27 * * * *", work: () => notifyOfDueReviews(database, clock()) },
      "rank-catalog": { cron: "37 * * * *", work: () => rankCatalog(database, deps) },
      "delete-unused-media": { cron: "17 3 * * *", missed: "once", work: () => deleteUnusedMedia(deps, clock()) },
    },
    async runAtStartup() {
      // After a week without any worker, today's partitions are missing, and attempts and usage would fail until the next scheduled run. Not left to
      // the maintenance: its failed steps are only logged; this one has to be retried until it succeeds.
      await prepareAttemptPartitions(database, clock());
      await prepareUsagePartitions(database, clock());
      await runMaintenance(deps);
    },
  };
}
