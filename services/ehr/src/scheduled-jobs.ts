import { type Queue, runMaintenanceSteps, type ScheduledWork } from "@ehr-marketplace/service-kit/queue";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import { refreshApps } from "./apps/refresh-apps.ts";
import { dropOldAuditEntries, prepareAuditPartitions } from "./audit/audit-log-retention.ts";
import { requestClientRefreshes } from "./clients/client-jobs.ts";
import type { DB } from "./database-schema.ts";
import { deleteRemovedInstallations } from "./installations/installation-retention.ts";
import { dropOldLaunches, prepareLaunchPartitions, warnOfShortRetention } from "./launches/launch-log-retention.ts";
import { deleteExpiredContexts } from "./launches/redeem-launch.ts";
import { deleteOldDeliveries } from "./marketplace-events/receive-event.ts";
import { deleteExpiredSecrets } from "./organisations/organisation-secrets.ts";
import { scheduledJobs } from "./queues.ts";
import { requestAllReconciliations } from "./reconciliation/reconciliation-jobs.ts";

export interface MaintenanceDeps {
  database: Kysely<DB>;
  queue: Queue;
  clock: () => Date;
  logger: Logger;
  launchLogDays: number;
  /** Undefined where no credentials for the marketplace are configured: then organisations aren't reconciled, either. */
  watchEpoch: (() => Promise<void>) | undefined;
  stopped: AbortSignal;
}

type Steps = Record<string, () => Promise<unknown>>;

/** Run at startup too: after a week without a running process, today's partition would be missing until the next hourly run. */
const startupSteps = (deps: MaintenanceDeps): Steps => ({
  "create launch log partitions": () => prepareLaunchPartitions(deps.database, deps.clock()),
  "check launch log retention": () => warnOfShortRetention(deps),
  "create audit log partitions": () => prepareAuditPartitions(deps.database, deps.clock()),
});

const hourlySteps = (deps: MaintenanceDeps): Steps => {
  const { database, clock } = deps;
  return {
    ...startupSteps(deps),
    "drop old launch log partitions": () => dropOldLaunches(deps, clock()),
    "drop old audit log partitions": () => dropOldAuditEntries(deps, clock()),
    "delete old deliveries": () => deleteOldDeliveries(database, clock()),
    "delete removed installations": () => deleteRemovedInstallations(database, clock()),
    "delete expired secrets": () => deleteExpiredSecrets(database, clock()),
  };
};

/** The scheduled jobs of the service. */
export function createScheduledWork(deps: MaintenanceDeps): ScheduledWork {
  const { database, clock, watchEpoch } = deps;
  const reconcile = { cron: "23 1 * * *", missed: "once", work: () => requestAllReconciliations(deps) } as const;
  return {
    queueName: scheduledJobs,
    jobs: {
      // A launch context names a patient, so it is deleted within a minute of its expiry.
      "expire-contexts": { cron: "* * * * *", work: () => deleteExpiredContexts(database, clock()) },
      "keep-house": { cron: "11 * * * *", work: () => runMaintenanceSteps(hourlySteps(deps), deps) },
      "refresh-apps": { cron: "41 * * * *", work: () => refreshApps(deps) },
      "refresh-clients": { cron: "51 * * * *", work: () => requestClientRefreshes(deps) },
      ...(watchEpoch === undefined ? {} : { reconcile, "watch-epoch": { cron: "*/5 * * * *", work: watchEpoch } }),
    },
    runAtStartup: () => runMaintenanceSteps(startupSteps(deps), deps),
  };
}
