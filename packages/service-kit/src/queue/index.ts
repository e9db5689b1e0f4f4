export { installQueues, type Queues } from "./install-queues.ts";
export { type Queue, startQueue } from "./queue.ts";
export { retryUntilDone, runRepeatedly } from "./run-repeatedly.ts";
export { runMaintenanceSteps, runScheduledJobs, type ScheduledJob } from "./scheduled-jobs.ts";
