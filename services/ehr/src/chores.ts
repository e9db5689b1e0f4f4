import { setTimeout as delay } from "node:timers/promises";
import { type Chore, type Queue, workByTheClock } from "@ehr-marketplace/service-kit/queue";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import type { PgBoss } from "pg-boss";
import { refreshApps } from "./apps/refresh-apps.ts";
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

type Steps = Record<string, (tending: Tending, now: Date) => Promise<unknown>>;

/** After a week without any process there would be no partition for today until the clock comes round. */
const atStart: Steps = {
  "launch log, days to come": ({ database }, now) => prepareLaunchPartitions(database, now),
  "launch log, days that are kept": warnOfShortLog,
};

const hourly: Steps = {
  ...atStart,
  "launch log, old days": dropOldLaunches,
  "old deliveries": ({ database }, now) => forgetDeliveries(database, now),
  "left configurations": ({ database }, now) => deleteLeftConfigurations(database, now),
  "ended secrets": ({ database }, now) => forgetEndedSecrets(database, now),
};

/** What goes wrong with one step is no reason to leave out the others. */
async function keepHouse(tending: Tending, steps: Steps): Promise<void> {
  for (const [step, work] of Object.entries(steps)) {
    try {
      await work(tending, tending.clock());
    } catch (error) {
      tending.logger.error({ err: error, step }, "a step of house-keeping failed; it is tried again within an hour");
    }
  }
}

async function tendByTheClock(boss: PgBoss, tending: Tending): Promise<void> {
  const nightly: Chore = { cron: "23 1 * * *", missed: "once", work: () => requestAllReconciliations(tending) };
  await workByTheClock(boss, chores, {
    // What nobody redeemed names a patient: it is gone within a minute of its end.
    "expire-contexts": { cron: "* * * * *", work: () => deleteExpiredContexts(tending.database, tending.clock()) },
    "keep-house": { cron: "11 * * * *", work: () => keepHouse(tending, hourly) },
    "refresh-apps": { cron: "41 * * * *", work: () => refreshApps(tending) },
    ...(tending.reconciles ? { reconcile: nightly } : {}),
  });
}

type Work = (boss: PgBoss) => Promise<void>;

const tryAgainMs = 1_000;

/** Begins all work on the queue as soon as the database is there: it may be away when the process starts. */
export function startTending(tending: Tending, works: Work[]): { stop(): Promise<void> } {
  const stopped = new AbortController();
  const left: Work[] = [(boss) => tendByTheClock(boss, tending), ...works, () => keepHouse(tending, atStart)];
  const started = (async () => {
    for (let work = left.shift(); work !== undefined && !stopped.signal.aborted; work = left.shift()) {
      try {
        await work(await tending.queue.boss());
      } catch (error) {
        left.push(work);
        tending.logger.warn({ err: error }, "the queue can't be worked on yet; trying again");
        await delay(tryAgainMs, undefined, { signal: stopped.signal }).catch(() => undefined);
      }
    }
  })();
  return {
    stop() {
      stopped.abort();
      return started;
    },
  };
}
