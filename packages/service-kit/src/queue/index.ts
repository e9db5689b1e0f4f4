export { installQueues, type Queues } from "./install-queues.ts";
export { preparedJobs } from "./prepared-jobs.ts";
export { type Queue, startQueue } from "./queue.ts";
export { runRepeatedly } from "./run-repeatedly.ts";
export { runMaintenanceSteps, type ScheduledWork, startScheduledJobs } from "./scheduled-jobs.ts";
