// Each test file loads this in its own process. What needs a service or the identity provider imports it when it is called: loading
// all of them takes more than a second of CPU time.
export { insertSubscribers, type Practice, registerPractices } from "@ehr-marketplace/dev/practices";
export { advanceTime, expireLeases } from "./advance-time.ts";
export { insertBilledSubscriptions, readClosedStatements } from "./billed-subscriptions.ts";
export { type Callers, fetchCallers, type RequestOptions, sendApiRequest, sendRequest } from "./callers.ts";
export { launchChromium } from "./chromium.ts";
export {
  type ClientMarketplace,
  clientMetadataOf,
  type ReportedConnection,
  startClientMarketplace,
} from "./client-marketplace.ts";
export {
  assertAccessible,
  assertNoBrokenWords,
  assertNoSidewaysScroll,
  assertStaleAndFailed,
  choosePersona,
  type OpenedConsole,
  openConsole,
  refocus,
  signInAs,
  tabTo,
} from "./console.ts";
export { consoleApi, fail, failNotFound, fastForwardUntil } from "./console-responses.ts";
export { type DevStack, startDevStack } from "./dev-stack.ts";
export { type DocumentedResponses, loadDocumentedResponses } from "./documented-responses.ts";
export { type RunningEhr, startEhr } from "./ehr.ts";
export { collectPlans, type ExecutedPlan, explainStatements, type PlanNode, rowsReadIn } from "./executed-plans.ts";
export { signToken } from "./forged-tokens.ts";
export { parseGuide, runGuide } from "./guide-commands.ts";
export { type InterruptibleWeb, startInterruptibleWeb } from "./interruptible-web.ts";
export { insertKnownApps } from "./known-apps.ts";
export { type RunningMarketplace, startMarketplace } from "./marketplace.ts";
export { type MarketplaceStub, sendJson, startMarketplaceStub } from "./marketplace-stub.ts";
export { type MarketplaceWithCallers, startMarketplaceWithCallers } from "./marketplace-with-callers.ts";
export { patientLimits } from "./patient-limits.ts";
export {
  assertDeclaredAccess,
  assertMatrixRow,
  assertPublicRoute,
  type CallerKinds,
  createCallerKinds,
  type MatrixRequest,
  parseMatrix,
} from "./permission-matrix.ts";
export {
  apiRows,
  databaseRows,
  encryptionKeyRows,
  metricsTokenRows,
  type ProductionRow,
  productionEnvironment,
  testProductionConfig,
} from "./production-config.ts";
export { findHalfPublished } from "./publication-consistency.ts";
export { completeDraft, createPublisher, drawPng, freePlan, type Publisher } from "./publisher.ts";
export { type Received, type Receiver, startReceiver } from "./receiver.ts";
export { type RegistrationServer, startRegistrationServer } from "./registration-server.ts";
export { postImport, sendImport } from "./send-import.ts";
export { connectAsService, type ServiceConnection } from "./service-connection.ts";
export {
  type ServiceProcess,
  startApiProcess,
  startEhrProcess,
  startWebProcess,
  startWorkerProcess,
} from "./service-process.ts";
export {
  assertPermissionDenied,
  commonEscalations,
  type Escalations,
  findEncryptedColumns,
  findUnsafeFunctions,
} from "./service-role.ts";
export { singleConnectionPool } from "./single-connection-pool.ts";
export { type OpenedPage, openPage, type Storefront, startStorefront } from "./storefront.ts";
export { findInconsistencies } from "./subscription-consistency.ts";
export { demoSettings } from "./templates.ts";
export { createBrowser, type RunningWeb, signIn, startWeb, type WebBrowser } from "./web.ts";
