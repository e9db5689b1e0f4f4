export { type Caller, findRoleForOrganisation, hasRole, type OrganisationRole, type Role } from "./caller.ts";
export { tokenConfig, tokenEnvironment } from "./token-environment.ts";
export { createTokenVerifier, type TokenOptions, type TokenVerifier } from "./token-verifier.ts";
