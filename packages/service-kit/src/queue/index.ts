export { again, untilDone } from "./again.ts";
export { type Chore, doEach, workByTheClock } from "./chores.ts";
export { installQueues, type Queues } from "./install-queues.ts";
export { type Queue, startQueue } from "./queue.ts";
