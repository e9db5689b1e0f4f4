import { type Chore, doEach, type Queue, untilDone, workByTheClock } from "@ehr-marketplace/service-kit/queue";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import type { PgBoss } from "pg-boss";
import { refreshApps } from "./apps/refresh-apps.ts";
import { dropOldAuditEntries, prepareAuditPartitions } from "./audit/audit-log-retention.ts";
import type { DB } from "./database-schema.ts";
import { deleteLeftConfigurations } from "./installations/left-configuration.ts";
import { deleteExpiredContexts } from "./launches/expire-contexts.ts";
import { dropOldLaunches, warnOfShortLog } from "./launches/launch-log-retention.ts";
import { prepareLaunchPartitions } from "./launches/prepare-partitions.ts";
import { forgetDeliveries } from "./marketplace-events/forget-deliveries.ts";
import { forgetEndedSecrets } from "./organisations/forget-ended-secrets.ts";
import { chores } from "./queues.ts";
import { requestAllReconciliations } from "./reconciliation/reconcile-by-jobs.ts";

export interface Tending {
  database: Kysely<DB>;
  queue: Queue;
  clock: () => Date;
  logger: Logger;
  launchLogDays: number;
  /** Whether organisations are held against the marketplace's list at all. */
  reconciles: boolean;
}

type Steps = Record<string, () => Promise<unknown>>;

/** After a week without any process there would be no partition for today until the clock comes round. */
const atStart = (tending: Tending): Steps => ({
  "launch log, days to come": () => prepareLaunchPartitions(tending.database, tending.clock()),
  "launch log, days that are kept": () => warnOfShortLog(tending),
  "audit log, partitions to come": () => prepareAuditPartitions(tending.database, tending.clock()),
});

const hourly = (tending: Tending): Steps => {
  const { database, clock } = tending;
  return {
    ...atStart(tending),
    "launch log, old days": () => dropOldLaunches(tending, clock()),
    "audit log, old partitions": () => dropOldAuditEntries(tending, clock()),
    "old deliveries": () => forgetDeliveries(database, clock()),
    "left configurations": () => deleteLeftConfigurations(database, clock()),
    "ended secrets": () => forgetEndedSecrets(database, clock()),
  };
};

async function tendByTheClock(boss: PgBoss, tending: Tending): Promise<void> {
  const nightly: Chore = { cron: "23 1 * * *", missed: "once", work: () => requestAllReconciliations(tending) };
  await workByTheClock(boss, chores, {
    // What nobody redeemed names a patient: it is gone within a minute of its end.
    "expire-contexts": { cron: "* * * * *", work: () => deleteExpiredContexts(tending.database, tending.clock()) },
    "keep-house": { cron: "11 * * * *", work: () => doEach(hourly(tending), tending) },
    "refresh-apps": { cron: "41 * * * *", work: () => refreshApps(tending) },
    ...(tending.reconciles ? { reconcile: nightly } : {}),
  });
}

type Work = (boss: PgBoss) => Promise<void>;

const pauseMs = 1_000;

/** Begins all work on the queue as soon as the database is there: it may be away when the process starts. */
export function startTending(tending: Tending, works: Work[]): { stop(): Promise<void> } {
  const { queue, logger } = tending;
  const stopping = new AbortController();
  const all: Work[] = [(boss) => tendByTheClock(boss, tending), ...works, () => doEach(atStart(tending), tending)];
  const started = Promise.all(
    all.map((work) =>
      untilDone({
        work: async () => work(queue.boss()),
        problem: "the queue can't be worked on yet",
        pauseMs,
        logger,
        stopped: stopping.signal,
      }),
    ),
  );
  return {
    async stop() {
      stopping.abort();
      await started;
    },
  };
}
