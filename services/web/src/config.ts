import {
  type CleanedEnv,
  databaseUrl,
  findHttpsError,
  findProductionErrors,
  port,
  processConfig,
  processEnvironment,
  readEnvironment,
  serverConfig,
  serverEnvironment,
  str,
  url,
  type VariableErrors,
  wholeNumber,
} from "@ehr-marketplace/service-kit/config";
import { tokenConfig, tokenEnvironment } from "@ehr-marketplace/service-kit/tokens";

export type Config = ReturnType<typeof readConfig>;

/** Every variable that the service reads; the README has a row for each. */
export const variables = {
  ...processEnvironment,
  ...serverEnvironment,
  ...tokenEnvironment,
  DATABASE_URL: databaseUrl({
    desc: "Connection string of the web's PostgreSQL, with a login in the role web_service",
    example: "postgres://web:secret@db.internal:5432/web?sslmode=verify-full",
  }),
  WEB_PORT: port({ desc: "Port to listen on", default: 8090 }),
  PUBLIC_URL: url({
    desc: "Where browsers reach this service; only scheme, host and port",
    example: "https://apps.example.com",
  }),
  MARKETPLACE_URL: url({
    desc: "The marketplace's API, with its version segment",
    example: "https://marketplace.example.com/api/v1",
  }),
  MEDIA_ORIGIN: url({
    desc: "Origin of the apps' pictures, if it isn't that of MARKETPLACE_URL",
    example: "https://media.example.com",
    default: "",
  }),
  CATALOG_TIMEOUT_MS: wholeNumber({ min: 100, max: 60_000 })({
    desc: "Maximum time that a page waits for a response of the marketplace",
    default: 3_000,
  }),
  VENDORS_URL: url({
    desc: "Where “For vendors” leads: a page for those who want to publish apps",
    example: "https://developers.example.com",
    default: "",
  }),
  SUPPORT_URL: url({
    desc: "Where “Get help” leads: a page on which people reach your support",
    example: "https://help.example.com",
    default: "",
  }),
  EHR_URL: url({ desc: "The EHR's API", example: "https://ehr.example.com/api" }),
  TOKEN_AUDIENCE: str({ desc: "The `aud` of access tokens by which their roles are read", default: "marketplace" }),
  OIDC_CLIENT_ID: str({ desc: "Client id of this service at the identity provider", example: "marketplace-web" }),
  OIDC_CLIENT_SECRET: str({ desc: "Its secret", example: "$(openssl rand -base64 32)" }),
  OIDC_SCOPE: str({
    desc: "Scopes that sign-in requests",
    example: "openid profile organization",
    default: "openid profile",
  }),
  SESSION_IDLE_MINUTES: wholeNumber({ min: 5, max: 1_440 })({
    desc: "Minutes without a request after which a session ends",
    default: 60,
  }),
  SESSION_HOURS: wholeNumber({ min: 1, max: 168 })({
    desc: "Hours after which a session ends, however much it is used",
    default: 12,
  }),
};

function complaints(read: Partial<CleanedEnv<typeof variables>>): VariableErrors {
  const isProduction = read.NODE_ENV === "production";
  const https = (value: string | undefined, because: string): string | undefined =>
    isProduction ? findHttpsError(value, because) : undefined;
  const { PUBLIC_URL: publicUrl } = read;
  const isOrigin = (value: string | undefined): boolean =>
    !value || URL.parse(value)?.href === `${URL.parse(value)?.origin}/`;
  return {
    ...findProductionErrors(read),
    MEDIA_ORIGIN: isOrigin(read.MEDIA_ORIGIN)
      ? https(read.MEDIA_ORIGIN || undefined, "browsers refuse pictures without TLS in a page with it")
      : `"${read.MEDIA_ORIGIN}" has more than scheme, host and port`,
    PUBLIC_URL: isOrigin(publicUrl)
      ? https(publicUrl, "sessions are cookies, which anyone on the network could read")
      : `"${publicUrl}" has more than scheme, host and port`,
    MARKETPLACE_URL: https(read.MARKETPLACE_URL, "users' tokens are sent there"),
    VENDORS_URL: https(read.VENDORS_URL || undefined, "pages link to it"),
    SUPPORT_URL: https(read.SUPPORT_URL || undefined, "pages link to it"),
    EHR_URL: https(read.EHR_URL, "users' tokens are sent there"),
    TOKEN_ISSUER: https(read.TOKEN_ISSUER, "users sign in there"),
  };
}

export function readConfig(environment: NodeJS.ProcessEnv) {
  const read = readEnvironment(environment, variables, complaints);
  const publicUrl = new URL(read.PUBLIC_URL).origin;
  return {
    ...processConfig(read),
    ...serverConfig(read),
    port: read.WEB_PORT,
    publicUrl,
    /** Browsers keep `__Host-` cookies of https pages only; without TLS, which production requires, they have simpler names. */
    isSecure: publicUrl.startsWith("https://"),
    database: {
      url: read.DATABASE_URL,
      poolSize: read.DATABASE_POOL_SIZE,
      statementTimeoutMs: read.STATEMENT_TIMEOUT_MS,
    },
    tokens: { ...tokenConfig(read), audience: read.TOKEN_AUDIENCE },
    identityProvider: {
      issuer: read.TOKEN_ISSUER,
      clientId: read.OIDC_CLIENT_ID,
      clientSecret: read.OIDC_CLIENT_SECRET,
      scope: read.OIDC_SCOPE,
      redirectUri: `${publicUrl}/callback`,
      homeUrl: `${publicUrl}/`,
      plainHttp: read.NODE_ENV !== "production",
    },
    vendorsUrl: read.VENDORS_URL || undefined,
    supportUrl: read.SUPPORT_URL || undefined,
    catalogTimeoutMs: read.CATALOG_TIMEOUT_MS,
    mediaOrigin: new URL(read.MEDIA_ORIGIN || read.MARKETPLACE_URL).origin,
    sessions: { idleMs: read.SESSION_IDLE_MINUTES * 60_000, maxMs: read.SESSION_HOURS * 3_600_000 },
    upstreams: {
      marketplace: read.MARKETPLACE_URL.replace(/\/+$/, ""),
      ehr: read.EHR_URL.replace(/\/+$/, ""),
    },
  };
}
