import type { Queues } from "@ehr-marketplace/service-kit/queue";

/** Fetches an app from the marketplace's catalog. */
export const appFetches = "app-fetches";
/** Reconciles an organisation with the marketplace's list of its subscriptions. */
export const reconciliations = "reconciliations";
/** Tells the marketplace that a sandbox app was launched. */
export const sandboxLaunchReports = "sandbox-launch-reports";
/** Brings apps' clients to the authorization server. */
export const clientRegistrations = "client-registrations";
/** Tells the marketplace how apps sign in. */
export const connectionReports = "connection-reports";
/** Scheduled jobs. The queue's name in the database stays as it was created. */
export const scheduledJobs = "chores";

const common = { policy: "standard", deleteAfterSeconds: 60, retentionSeconds: 40 * 86_400 } as const;

export const queues: Queues = {
  // The marketplace may be unavailable for long, so fetches are retried at growing intervals. The policy `exclusive` keeps one job per app,
  // however many events request it.
  [appFetches]: {
    ...common,
    policy: "exclusive",
    expireInSeconds: 60,
    retryLimit: 1_000,
    retryDelay: 2,
    retryBackoff: true,
    retryDelayMax: 300,
  },
  [reconciliations]: {
    ...common,
    policy: "short",
    expireInSeconds: 300,
    retryLimit: 20,
    retryDelay: 10,
    retryBackoff: true,
    retryDelayMax: 900,
  },
  // The policy `exclusive` keeps one job per subscription, however often the app is launched. Jobs are deleted after a day, reported or not.
  [sandboxLaunchReports]: {
    ...common,
    policy: "exclusive",
    retentionSeconds: 86_400,
    expireInSeconds: 60,
    retryLimit: 1_000,
    retryDelay: 10,
    retryBackoff: true,
    retryDelayMax: 3_600,
  },
  // The policy `short` lets a job be queued while one runs, which may have read the state before the change.
  [clientRegistrations]: {
    ...common,
    policy: "short",
    expireInSeconds: 45,
    retryLimit: 1_000,
    retryDelay: 2,
    retryBackoff: true,
    retryDelayMax: 600,
  },
  [connectionReports]: {
    ...common,
    policy: "short",
    expireInSeconds: 600,
    retryLimit: 1_000,
    retryDelay: 5,
    retryBackoff: true,
    retryDelayMax: 3_600,
  },
  [scheduledJobs]: { ...common, expireInSeconds: 600, retryLimit: 0 },
};
