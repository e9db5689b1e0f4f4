export { bool, type CleanedEnv, num, port, str, url } from "envalid";
export { ConfigurationError, networks, origins, readEnvironment, wholeNumber } from "./read-environment.ts";
