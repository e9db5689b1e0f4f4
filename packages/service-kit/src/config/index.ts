export { bool, type CleanedEnv, num, port, str, url } from "envalid";
export { findHttpsError, findProductionErrors } from "./production-errors.ts";
export {
  ConfigurationError,
  databaseUrl,
  networks,
  readEnvironment,
  type VariableErrors,
  wholeNumber,
} from "./read-environment.ts";
export {
  apiConfig,
  apiEnvironment,
  processConfig,
  processEnvironment,
  readMigrationConfig,
  serverConfig,
  serverEnvironment,
} from "./service-environment.ts";
