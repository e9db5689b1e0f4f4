import { type Chore, doEach, type Queue, untilDone, workByTheClock } from "@ehr-marketplace/service-kit/queue";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import type { DB } from "../../database-schema.ts";
import { forgetAnswers } from "../../idempotency/forget-answers.ts";
import { chores } from "../../queue/queues.ts";
import { dropDueToDeleted } from "../endpoints/drop-due-to-deleted.ts";
import { dropOldAttempts, prepareAttemptPartitions, warnOfShortLog } from "./attempt-partitions.ts";
import type { DeliveryMetrics } from "./delivery-metrics.ts";
import { expireKept } from "./expire-kept.ts";
import { sweepDeliveries } from "./sweep.ts";

export interface Tending {
  database: Kysely<DB>;
  queue: Queue;
  clock: () => Date;
  logger: Logger;
  metrics: DeliveryMetrics;
  logDays: number;
  /** Scheduled jobs of other features. */
  jobs: Record<string, Chore>;
  stopped: AbortSignal;
}

export async function keepHouse({ database, clock, logger, logDays, stopped }: Tending): Promise<void> {
  const now = clock();
  const steps = {
    "the log's next days are made": () => prepareAttemptPartitions(database, now),
    "the log's retention is checked": () => warnOfShortLog(database, logDays, logger),
    "the log's old days are dropped": () => dropOldAttempts(database, now, logDays),
    "answers are forgotten": () => forgetAnswers(database, now, { stopped }),
    "what was kept for long expires": () => expireKept(database, now, { stopped }),
  };
  await doEach(steps, { logger, stopped });
}

async function windClock(tending: Tending): Promise<void> {
  const { database, queue, clock, metrics, stopped } = tending;
  await workByTheClock(queue.boss(), chores, {
    sweep: {
      cron: "* * * * *",
      work: async () => metrics.swept(await sweepDeliveries(database, queue, clock())),
    },
    "drop-deleted": { cron: "* * * * *", work: () => dropDueToDeleted(database, clock(), { stopped }) },
    "keep-house": { cron: "7 * * * *", work: () => keepHouse(tending) },
    ...tending.jobs,
  });
}

const pauseMs = 1_000;

/** Winds the clock, and keeps house at once. The database may be away when the process starts. */
export async function startTending(tending: Tending): Promise<void> {
  const { database, clock, logger, stopped } = tending;
  const once = (problem: string, work: () => Promise<void>): Promise<void> =>
    untilDone({ work, problem, pauseMs, logger, stopped });
  await Promise.all([
    once("the clock can't be wound", () => windClock(tending)),
    // After a week without any worker there would be no partition for today until the clock comes round.
    once("the log's days can't be made", () => prepareAttemptPartitions(database, clock())).then(() =>
      keepHouse(tending),
    ),
  ]);
}
