export { type Caller, holds, holdsIn, type OrganisationRole, type Role } from "./caller.ts";
export { tokenConfig, tokenEnvironment } from "./token-environment.ts";
export { createTokens, type TokenOptions, type Tokens } from "./verify-token.ts";
