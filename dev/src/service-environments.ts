import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TokenIssuer {
  issuer: string;
  jwksUrl: string;
}

/** An unreachable issuer, for processes that verify no tokens. */
const unreachableIssuer: TokenIssuer = { issuer: "http://127.0.0.1:9", jwksUrl: "http://127.0.0.1:9/jwks" };

/** Allowed networks of vendors' endpoints and practices' callbacks in the local stack: both loopbacks. */
export const loopbackNetworks = ["127.0.0.0/8", "::1/128"];

/** Encrypts the secrets of development databases. The key is public. */
export const developmentEncryptionKeys = `1:${Buffer.from("for development only; never real").toString("base64")}`;

/** That of this process if it has one, as in a test: its databases refer to the demo apps' files, which are there. */
export const mediaDirectory = (): string => process.env["MEDIA_DIRECTORY"] || join(tmpdir(), "ehr-marketplace-media");

/** The required variables of the marketplace, for development and tests. */
export function marketplaceEnvironment(databaseUrl: string, issuer = unreachableIssuer): Record<string, string> {
  return {
    DATABASE_URL: databaseUrl,
    TOKEN_ISSUER: issuer.issuer,
    TOKEN_JWKS_URL: issuer.jwksUrl,
    ENCRYPTION_KEYS: developmentEncryptionKeys,
    PUBLIC_URL: "http://127.0.0.1:8080",
    MEDIA_DIRECTORY: mediaDirectory(),
  };
}

/** The client of the web at the identity provider of local stacks and tests. The secret is public. */
export const webClient = { id: "marketplace-web", secret: "development-only" };

/** The required variables of the web, for development and tests. */
export function webEnvironment(
  databaseUrl: string,
  urls: { publicUrl: string; marketplaceUrl: string; ehrUrl: string },
  issuer = unreachableIssuer,
): Record<string, string> {
  return {
    DATABASE_URL: databaseUrl,
    TOKEN_ISSUER: issuer.issuer,
    TOKEN_JWKS_URL: issuer.jwksUrl,
    ENCRYPTION_KEYS: developmentEncryptionKeys,
    PUBLIC_URL: urls.publicUrl,
    MARKETPLACE_URL: `${urls.marketplaceUrl}/api/v1`,
    EHR_URL: `${urls.ehrUrl}/api`,
    OIDC_CLIENT_ID: webClient.id,
    OIDC_CLIENT_SECRET: webClient.secret,
  };
}

/** The required variables of the EHR service, for development and tests. */
export function ehrEnvironment(
  databaseUrl: string,
  urls: { marketplaceUrl: string; fhirBaseUrl: string },
  issuer = unreachableIssuer,
): Record<string, string> {
  return {
    ...marketplaceEnvironment(databaseUrl, issuer),
    MARKETPLACE_URL: `${urls.marketplaceUrl}/api/v1`,
    FHIR_BASE_URL: urls.fhirBaseUrl,
  };
}
