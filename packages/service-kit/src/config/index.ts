export { bool, type CleanedEnv, num, port, str, url } from "envalid";
export { ConfigurationError, networks, readEnvironment, wholeNumber } from "./read-environment.ts";
export {
  apiConfig,
  apiEnvironment,
  assertFitForProduction,
  processConfig,
  processEnvironment,
  readMigrationConfig,
} from "./service-environment.ts";
