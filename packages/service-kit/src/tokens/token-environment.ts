import { type CleanedEnv, str, url } from "envalid";
import type { TokenOptions } from "./token-verifier.ts";

/** Variables of a service that verifies tokens. */
export const tokenEnvironment = {
  TOKEN_ISSUER: str({
    desc: "The exact `iss` of accepted tokens",
    example: "https://id.example.com/realms/practices",
  }),
  TOKEN_JWKS_URL: url({
    desc: "URL of the issuer's JSON Web Key Set",
    example: "https://id.example.com/realms/practices/protocol/openid-connect/certs",
  }),
  TOKEN_ORGANISATION_CLAIM: str({
    desc: "Claim with the caller's organisations: a name, or a path of names joined by dots",
    default: "organization",
  }),
  TOKEN_VENDOR_CLAIM: str({ desc: "Claim with the caller's vendors", default: "vendor" }),
  TOKEN_ROLES_CLAIM: str({
    desc: "Claim with the caller's roles",
    example: "realm_access.roles",
    default: "roles",
  }),
};

export function tokenConfig(read: CleanedEnv<typeof tokenEnvironment>): Omit<TokenOptions, "logger" | "audience"> {
  return {
    issuer: read.TOKEN_ISSUER,
    jwksUrl: read.TOKEN_JWKS_URL,
    claims: {
      organisation: read.TOKEN_ORGANISATION_CLAIM,
      vendor: read.TOKEN_VENDOR_CLAIM,
      roles: read.TOKEN_ROLES_CLAIM,
    },
  };
}
