import { type CleanedEnv, str } from "envalid";
import { encryptionKeys } from "../secrets/encryption-keys.ts";
import { findProductionErrors } from "./production-errors.ts";
import { databaseUrl, networksOrNone, origins, readEnvironment, wholeNumber } from "./read-environment.ts";

export const encryptionKeysVariable = encryptionKeys({
  desc: "Keys that encrypt stored secrets: version:key, comma-separated, 32 bytes in Base64 each; the first encrypts, all decrypt",
  example: "1:$(openssl rand -base64 32)",
});

export const nodeEnvironment = str({
  desc: "In production, all security settings are required",
  choices: ["production", "development", "test"],
  default: "production",
});

/** Variables of every process. */
export const processEnvironment = {
  NODE_ENV: nodeEnvironment,
  HOST: str({ desc: "Address to listen on", default: "0.0.0.0" }),
  LOG_LEVEL: str({
    desc: "Least severe level that is logged",
    choices: ["trace", "debug", "info", "warn", "error", "fatal", "silent"],
    default: "info",
  }),
  METRICS_TOKEN: str({
    desc: "Bearer token that /metrics requires; in production it must have at least 32 characters",
    example: "$(openssl rand -hex 32)",
    default: "",
  }),
  ENCRYPTION_KEYS: encryptionKeysVariable,
  OTEL_EXPORTER_OTLP_ENDPOINT: str({
    desc: "Endpoint that traces are sent to (OTLP over HTTP); if unset, no traces are sent",
    example: "http://collector.internal:4318",
    default: "",
  }),
};

export function processConfig(read: CleanedEnv<typeof processEnvironment>) {
  return {
    host: read.HOST,
    logLevel: read.LOG_LEVEL,
    metricsToken: read.METRICS_TOKEN === "" ? undefined : read.METRICS_TOKEN,
    encryptionKeys: read.ENCRYPTION_KEYS,
    tracesEndpoint: read.OTEL_EXPORTER_OTLP_ENDPOINT === "" ? undefined : read.OTEL_EXPORTER_OTLP_ENDPOINT,
  };
}

/** Variables of every process that serves requests. */
export const serverEnvironment = {
  DATABASE_POOL_SIZE: wholeNumber({ min: 1, max: 500 })({
    desc: "Maximum number of database connections per process",
    default: 10,
  }),
  STATEMENT_TIMEOUT_MS: wholeNumber({ min: 100, max: 60_000 })({
    desc: "Maximum duration of a statement",
    default: 5_000,
  }),
  TRUSTED_PROXIES: networksOrNone({
    desc: "Addresses or networks of the trusted reverse proxies, comma-separated; `none` without a proxy",
    example: "10.0.0.0/8",
    default: [],
  }),
  PUBLIC_REQUESTS_PER_MINUTE: wholeNumber({ min: 1, max: 1_000_000_000 })({
    desc: "Maximum requests per minute and address to public routes, per process",
    default: 6_000,
  }),
  REQUEST_TIMEOUT_MS: wholeNumber({ min: 100, max: 600_000 })({
    desc: "Maximum time to receive a request, and to create its response",
    default: 10_000,
  }),
  URL_LIMIT_BYTES: wholeNumber({ min: 256, max: 15_000 })({ desc: "Maximum length of a URL", default: 8_192 }),
  MAX_EVENT_LOOP_DELAY_MS: wholeNumber({ min: 10, max: 60_000 })({
    desc: "Mean event loop delay above which requests are refused with 503 while more than 20 are in progress",
    default: 200,
  }),
};

export function serverConfig(read: CleanedEnv<typeof serverEnvironment>) {
  return {
    trustedProxies: read.TRUSTED_PROXIES === "none" ? [] : read.TRUSTED_PROXIES,
    publicRequestsPerMinute: read.PUBLIC_REQUESTS_PER_MINUTE,
    limits: {
      requestMs: read.REQUEST_TIMEOUT_MS,
      urlBytes: read.URL_LIMIT_BYTES,
      eventLoopDelayMs: read.MAX_EVENT_LOOP_DELAY_MS,
    },
  };
}

/** Variables of every process that serves an API with tokens. */
export const apiEnvironment = {
  ...serverEnvironment,
  CALLER_REQUESTS_PER_MINUTE: wholeNumber({ min: 1, max: 1_000_000_000 })({
    desc: "Maximum requests per minute and caller to routes that require a token, per process",
    default: 1_200,
  }),
  CALLER_REQUESTS_AT_ONCE: wholeNumber({ min: 1, max: 10_000 })({
    desc: "Requests of one caller in progress per process; further ones wait. Below half of DATABASE_POOL_SIZE",
    default: 4,
  }),
  ALLOWED_ORIGINS: origins({
    desc: "Origins whose pages may call routes that require a token, comma-separated",
    example: "https://console.example.com",
    default: [],
  }),
};

export function apiConfig(read: CleanedEnv<typeof apiEnvironment>) {
  return {
    ...serverConfig(read),
    callerRequestsPerMinute: read.CALLER_REQUESTS_PER_MINUTE,
    callerRequestsAtOnce: read.CALLER_REQUESTS_AT_ONCE,
    allowedOrigins: read.ALLOWED_ORIGINS,
  };
}

export function readMigrationConfig(environment: NodeJS.ProcessEnv, service: string): { databaseUrl: string } {
  const specs = {
    NODE_ENV: nodeEnvironment,
    MIGRATION_DATABASE_URL: databaseUrl({
      desc: "Connection string with the login that owns the schema; set it for the migration step only",
      example: `postgres://${service}_owner:secret@db.internal:5432/${service}?sslmode=verify-full`,
    }),
  };
  const read = readEnvironment(environment, specs, findProductionErrors);
  return { databaseUrl: read.MIGRATION_DATABASE_URL };
}
