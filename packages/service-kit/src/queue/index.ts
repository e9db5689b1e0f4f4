export { type Chore, workByTheClock } from "./chores.ts";
export { installQueues, type Queues } from "./install-queues.ts";
export { createQueue, type Queue } from "./queue.ts";
