import type { Queues } from "@ehr-marketplace/service-kit/queue";

/** How long a worker has a job to itself. A request takes ten seconds at most; what has not settled long after is taken over. */
export const leaseSeconds = 30;

/** A delivery that goes out; its job has the delivery's id, so that there is never more than one. */
export const deliveries = "deliveries";
/** A recipient that is held is tried, or what has waited for it begins to flow again. */
export const recoveries = "recoveries";
/** Replays, a batch at a time. */
export const replays = "replays";
/** What the clock starts. */
export const chores = "chores";

const common = {
  policy: "standard",
  expireInSeconds: leaseSeconds,
  // Only what a dead worker left behind is handed out again; what failed is scheduled by us, with a new job.
  retryLimit: 1_000_000,
  retryDelay: 0,
  deleteAfterSeconds: 60,
  retentionSeconds: 40 * 86_400,
} as const;

export const queues: Queues = {
  [deliveries]: { ...common, partition: true },
  [recoveries]: common,
  [replays]: common,
  // Its next time comes anyway, and until then one that fails again and again would come before the others.
  [chores]: { ...common, expireInSeconds: 600, retryLimit: 0 },
};
