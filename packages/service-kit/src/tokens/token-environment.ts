import { type CleanedEnv, str, url } from "envalid";
import type { TokenOptions } from "./verify-token.ts";

/** What a service that verifies tokens is configured with. */
export const tokenEnvironment = {
  TOKEN_ISSUER: str({
    desc: "The `iss` of the tokens that are accepted, to the letter",
    example: "https://id.example.com/realms/practices",
  }),
  TOKEN_JWKS_URL: url({
    desc: "Where that issuer publishes its keys",
    example: "https://id.example.com/realms/practices/protocol/openid-connect/certs",
  }),
  TOKEN_ORGANISATION_CLAIM: str({
    desc: "Where a token names the caller's organisations: a claim, or a path of names joined by dots",
    default: "organization",
  }),
  TOKEN_VENDOR_CLAIM: str({ desc: "Where a token names the caller's vendors", default: "vendor" }),
  TOKEN_ROLES_CLAIM: str({
    desc: "Where a token names the caller's roles",
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
