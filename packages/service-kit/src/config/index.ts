export { bool, type CleanedEnv, num, port, str, url } from "envalid";
export { httpsComplaint, productionComplaints } from "./production.ts";
export {
  type Complaints,
  ConfigurationError,
  databaseUrl,
  networks,
  readEnvironment,
  wholeNumber,
} from "./read-environment.ts";
export {
  apiConfig,
  apiEnvironment,
  processConfig,
  processEnvironment,
  readMigrationConfig,
} from "./service-environment.ts";
