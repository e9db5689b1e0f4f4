export { bool, num, port, str, url } from "envalid";
export { ConfigurationError, networks, readEnvironment, wholeNumber } from "./read-environment.ts";
