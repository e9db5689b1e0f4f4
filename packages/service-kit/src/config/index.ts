export { bool, num, port, str, url } from "envalid";
export { ConfigurationError, commaSeparated, readEnvironment, wholeNumber } from "./read-environment.ts";
