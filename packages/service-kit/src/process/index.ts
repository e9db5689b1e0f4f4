export { checkAtStart } from "./check-at-start.ts";
export { type App, runProcess } from "./run-process.ts";
export { createServiceContext } from "./service-context.ts";
