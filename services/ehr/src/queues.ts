import type { Queues } from "@ehr-marketplace/service-kit/queue";

/** An app is read from the marketplace's catalog. */
export const appFetches = "app-fetches";
/** An organisation is held against the marketplace's list of its subscriptions. */
export const reconciliations = "reconciliations";
/** What the clock starts. */
export const chores = "chores";

const common = { policy: "standard", deleteAfterSeconds: 60, retentionSeconds: 40 * 86_400 } as const;

export const queues: Queues = {
  // The marketplace may be away for long: nobody waits for this, and it is asked again, ever more rarely.
  // However many events ask for an app meanwhile, one job of it is there.
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
  [chores]: { ...common, expireInSeconds: 600, retryLimit: 0 },
};
