export { type Practice, registerPractices } from "@ehr-marketplace/dev/practices";
export { type ApiProcess, startApiProcess, startEhrProcess, startWorkerProcess } from "./api-process.ts";
export { type Asking, ask, askAt, type Callers, startCallers } from "./callers.ts";
export { type CleanUp, cleanUpAfter } from "./clean-up.ts";
export { type Connected, connectTo } from "./connected.ts";
export { assertFailure, assertProblem, assertShape } from "./contract.ts";
export { cloneDatabase } from "./databases.ts";
export { type DevStack, startDevStack } from "./dev-stack.ts";
export { type DocumentedAnswers, documentedAnswers } from "./documented-answers.ts";
export { type RunningEhr, startEhr } from "./ehr.ts";
export { eventually } from "./eventually.ts";
export { collectPlans, type ExecutedPlan, explainStatements, type PlanNode, rowsReadIn } from "./executed-plans.ts";
export { signedToken } from "./forged-tokens.ts";
export { followGuide, guideSteps } from "./guide-commands.ts";
export { insertKnownApps } from "./known-apps.ts";
export { type RunningMarketplace, startMarketplace } from "./marketplace.ts";
export { oneConnection } from "./one-connection.ts";
export { type PeopledMarketplace, startPeopledMarketplace } from "./people.ts";
export {
  assertOpen,
  assertRow,
  assertStated,
  everyKindOfCaller,
  type KindsOfCallers,
  type Question,
  readMatrix,
} from "./permission-matrix.ts";
export {
  apiRows,
  databaseRows,
  describeProduction,
  encryptionKeyRows,
  metricsTokenRows,
  productionEnvironment,
} from "./production-config.ts";
export { answerFrom, assertGuarded, rawAnswer } from "./raw-answer.ts";
export { type Received, type Receiver, startReceiver } from "./receiver.ts";
export { rounds, timeLimitMs } from "./rounds.ts";
export { assertRefused, commonEscalations, type Escalations, unsafeFunctions } from "./service-role.ts";
export { type Cut, type SeveredProxy, startSeveredProxy } from "./severed-proxy.ts";
export { demoPlaces } from "./templates.ts";
export { letLeasesEnd, letTimePass } from "./time-travel.ts";
