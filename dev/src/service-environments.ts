export interface TokenIssuer {
  issuer: string;
  jwksUrl: string;
}

/** Nobody's tokens: for where none are used. */
const nobody: TokenIssuer = { issuer: "http://127.0.0.1:9", jwksUrl: "http://127.0.0.1:9/jwks" };

/** Networks of the local stack that vendors' endpoints and practices' callbacks may be in: both loopbacks. */
export const loopbackNetworks = ["127.0.0.0/8", "::1/128"];

/** Seals the secrets of development databases, which are no secrets. */
export const developmentEncryptionKeys = `1:${Buffer.from("for development only; never real").toString("base64")}`;

/** What the marketplace can't be started without, for development and tests. */
export function marketplaceEnvironment(databaseUrl: string, issuer = nobody): Record<string, string> {
  return {
    DATABASE_URL: databaseUrl,
    TOKEN_ISSUER: issuer.issuer,
    TOKEN_JWKS_URL: issuer.jwksUrl,
    ENCRYPTION_KEYS: developmentEncryptionKeys,
  };
}

/** What the EHR's service can't be started without, likewise. */
export function ehrEnvironment(
  databaseUrl: string,
  places: { marketplaceUrl: string; fhirBaseUrl: string },
  issuer = nobody,
): Record<string, string> {
  return {
    ...marketplaceEnvironment(databaseUrl, issuer),
    MARKETPLACE_URL: `${places.marketplaceUrl}/api/v1`,
    FHIR_BASE_URL: places.fhirBaseUrl,
  };
}
