import type { Queues } from "@ehr-marketplace/service-kit/queue";

export const scheduledJobs = "scheduled-jobs";

export const queues: Queues = {
  [scheduledJobs]: {
    policy: "standard",
    deleteAfterSeconds: 60,
    retentionSeconds: 40 * 86_400,
    expireInSeconds: 600,
    retryLimit: 0,
  },
};
