export { type Caller, findRoleForOrganisation, hasRole, type OrganisationRole, type Role } from "./caller.ts";
export { IssuerUnavailableError } from "./issuer-keys.ts";
export { createLogoutTokenVerifier, type LogoutToken, type LogoutTokenVerifier } from "./logout-token.ts";
export { tokenConfig, tokenEnvironment } from "./token-environment.ts";
export { createTokenVerifier, type TokenOptions, TokenRefusedError, type TokenVerifier } from "./token-verifier.ts";
