export { assertPrompt } from "./assert-prompt.ts";
export { type CleanUp, cleanUpAfter } from "./clean-up.ts";
export {
  cloneDatabase,
  dropDatabase,
  type ServiceDatabase,
  type ServiceLogin,
  type Template,
  type TemplateName,
  urlsFor,
  withClient,
} from "./databases.ts";
export { eventually } from "./eventually.ts";
export { keepLog, takeLogs } from "./logs.ts";
export { type NetworkFault, type NetworkFaultProxy, startNetworkFaultProxy } from "./network-fault-proxy.ts";
export { assertSecurityHeaders, rawResponse, readResponse } from "./raw-response.ts";
export { isFullRun, promisedMs, rounds, timeLimitMs } from "./rounds.ts";
export { getSharedPart } from "./shared-parts.ts";
export { tokenPattern } from "./token-pattern.ts";
