export { type Practice, registerPractices } from "@ehr-marketplace/dev/practices";
export { type ApiProcess, startApiProcess, startWorkerProcess } from "./api-process.ts";
export { type Asking, ask, type Callers, startCallers } from "./callers.ts";
export { type CleanUp, cleanUpAfter } from "./clean-up.ts";
export { assertProblem, assertShape } from "./contract.ts";
export { cloneDatabase } from "./databases.ts";
export { type DevStack, startDevStack } from "./dev-stack.ts";
export { eventually } from "./eventually.ts";
export { signedToken } from "./forged-tokens.ts";
export { followGuide, guideSteps } from "./guide-commands.ts";
export { type RunningMarketplace, startMarketplace } from "./marketplace.ts";
export { type PeopledMarketplace, startPeopledMarketplace } from "./people.ts";
export {
  assertComplete,
  everyKindOfCaller,
  type KindsOfCallers,
  type Question,
  readMatrix,
  statusOf,
} from "./permission-matrix.ts";
export { type Received, type Receiver, startReceiver } from "./receiver.ts";
export { rounds } from "./rounds.ts";
export { demoPlaces } from "./templates.ts";
export { letLeasesEnd, letTimePass } from "./time-travel.ts";
