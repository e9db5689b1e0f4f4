export { layFoundation } from "./lay-foundation.ts";
export { type App, runProcess } from "./run-process.ts";
