import type { Queues } from "@ehr-marketplace/service-kit/queue";
import { type RawBuilder, sql } from "kysely";

/** Lease of a job, the last resort: what a dead worker had fetched is taken over earlier. A request takes at most ten seconds. */
export const leaseSeconds = 30;

/** One job per queued delivery. The job has the delivery's id, so a delivery can't have two. */
export const deliveries = "deliveries";
/** Workers that listen on this channel fetch jobs at once; others find them when they poll, within a second. */
export const deliveriesChannel = "deliveries_queued";
/** One job per recipient: probes a held one, or queues its waiting deliveries. */
export const recoveries = "recoveries";
/** One job per running replay, which processes one batch at a time. */
export const replays = "replays";
/** One job per suspension that is pausing or resuming subscriptions, which processes one batch at a time. */
export const suspensions = "suspensions";
/** Jobs started by cron schedules. */
export const scheduledJobs = "chores";

const common = {
  policy: "standard",
  expireInSeconds: leaseSeconds,
  // pg-boss retries jobs that were released, or whose lease expired. For a failed attempt the service inserts a new job itself.
  retryLimit: 1_000_000,
  retryDelay: 0,
  deleteAfterSeconds: 60,
  retentionSeconds: 40 * 86_400,
} as const;

export const queues: Queues = {
  [deliveries]: { ...common, partition: true },
  [recoveries]: common,
  [replays]: common,
  // A step deletes its job as soon as it starts, so a short lease is enough, and a dead worker's step is soon taken over.
  [suspensions]: { ...common, expireInSeconds: 10 },
  // No retries: the schedule starts it again, and retries of a failing job would delay the others.
  [scheduledJobs]: { ...common, expireInSeconds: 600, retryLimit: 0 },
};

/**
 * A condition for the stores of several features, which can't import each other's stores: null where the queue has no such job. With a
 * limit: the planner may turn "not exists" into a join with all jobs.
 */
export const hasJob = (queue: string, id: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql`(select true from pgboss.job j where j.name = ${queue} and j.id = ${id} limit 1)`;

/** When the job with this id starts; null where the queue has none, or a worker has fetched it. */
export const findStartOfJob = (queue: string, id: RawBuilder<unknown>): RawBuilder<Date | null> =>
  sql`(select j.start_after from pgboss.job j where j.name = ${queue} and j.id = ${id} and j.state < 'active' limit 1)`;
