export { type Caller, holds, type OrganisationRole, type Role, roleFor } from "./caller.ts";
export { tokenConfig, tokenEnvironment } from "./token-environment.ts";
export { createTokens, type TokenOptions, type Tokens } from "./verify-token.ts";
