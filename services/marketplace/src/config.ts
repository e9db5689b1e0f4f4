import {
  apiConfig,
  apiEnvironment,
  type CleanedEnv,
  databaseUrl,
  findProductionErrors,
  networks,
  port,
  processConfig,
  processEnvironment,
  readEnvironment,
  str,
  wholeNumber,
} from "@ehr-marketplace/service-kit/config";
import { tokenConfig, tokenEnvironment } from "@ehr-marketplace/service-kit/tokens";

export type Config = ReturnType<typeof readConfig>;

const DATABASE_URL = databaseUrl({
  desc: "Connection string of the marketplace's PostgreSQL, with a login in the role marketplace_service",
  example: "postgres://marketplace:secret@db.internal:5432/marketplace?sslmode=verify-full",
});

/** Environment variables of both processes, API and worker. */
export const marketplaceEnvironment = {
  ...processEnvironment,
  DATABASE_URL,
  VENDOR_ALLOWED_NETWORKS: networks({
    desc: "Private networks in which vendors' endpoints are allowed, comma-separated",
    default: [],
  }),
};

export function marketplaceConfig(read: CleanedEnv<typeof marketplaceEnvironment>) {
  return { ...processConfig(read), vendorNetworks: read.VENDOR_ALLOWED_NETWORKS };
}

export function readConfig(environment: NodeJS.ProcessEnv) {
  const specs = {
    ...marketplaceEnvironment,
    ...apiEnvironment,
    ...tokenEnvironment,
    MARKETPLACE_PORT: port({ desc: "Port to listen on", default: 8080 }),
    TOKEN_AUDIENCE: str({ desc: "The `aud` that tokens for this service have", default: "marketplace" }),
    CATALOG_CACHE_SECONDS: wholeNumber({ min: 0, max: 60 })({
      desc: "Maximum time that a catalog response is cached in this process; 0 disables the cache",
      default: 60,
    }),
    CATALOG_CACHE_MEGABYTES: wholeNumber({ min: 1, max: 16_384 })({ desc: "Maximum size of that cache", default: 64 }),
    MEDIA_DIRECTORY: str({ desc: "Folder served at /media; unset disables the route", default: "" }),
  };
  const read = readEnvironment(environment, specs, findProductionErrors);

  return {
    ...marketplaceConfig(read),
    ...apiConfig(read),
    port: read.MARKETPLACE_PORT,
    database: {
      url: read.DATABASE_URL,
      poolSize: read.DATABASE_POOL_SIZE,
      statementTimeoutMs: read.STATEMENT_TIMEOUT_MS,
    },
    tokens: { ...tokenConfig(read), audience: read.TOKEN_AUDIENCE },
    catalogCache: {
      lifetimeMs: read.CATALOG_CACHE_SECONDS * 1_000,
      maxBytes: read.CATALOG_CACHE_MEGABYTES * 1_048_576,
    },
    mediaDirectory: read.MEDIA_DIRECTORY === "" ? undefined : read.MEDIA_DIRECTORY,
  };
}
