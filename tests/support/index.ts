export { type ApiProcess, startApiProcess } from "./api-process.ts";
export { type CleanUp, cleanUpAfter } from "./clean-up.ts";
export { assertProblem, assertShape } from "./contract.ts";
export { cloneDatabase } from "./databases.ts";
export { type DevStack, startDevStack } from "./dev-stack.ts";
export { eventually } from "./eventually.ts";
export { type RunningMarketplace, startMarketplace } from "./marketplace.ts";
export { rounds } from "./rounds.ts";
export { demoPlaces } from "./templates.ts";
