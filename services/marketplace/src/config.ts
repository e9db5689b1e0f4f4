import {
  apiConfig,
  apiEnvironment,
  type CleanedEnv,
  databaseUrl,
  findHttpsError,
  findProductionErrors,
  networks,
  port,
  processConfig,
  processEnvironment,
  readEnvironment,
  str,
  url,
  type VariableErrors,
  wholeNumber,
} from "@ehr-marketplace/service-kit/config";
import { tokenConfig, tokenEnvironment } from "@ehr-marketplace/service-kit/tokens";
import { defaultUsageLimits, parseUsageLimits } from "./billing/usage-limits.ts";
import { findMediaErrors, mediaConfig, mediaEnvironment } from "./media-config.ts";

export type Config = ReturnType<typeof readConfig>;

const DATABASE_URL = databaseUrl({
  desc: "Connection string of the marketplace's PostgreSQL, with a login in the role marketplace_service",
  example: "postgres://marketplace:secret@db.internal:5432/marketplace?sslmode=verify-full",
});

/** Environment variables of both processes, API and worker. */
export const marketplaceEnvironment = {
  ...processEnvironment,
  ...mediaEnvironment,
  DATABASE_URL,
  VENDOR_ALLOWED_NETWORKS: networks({
    desc: "Private networks in which vendors' endpoints and CDS Hooks services are allowed, comma-separated",
    default: [],
  }),
};

export function marketplaceConfig(read: CleanedEnv<typeof marketplaceEnvironment>) {
  return { ...processConfig(read), vendorNetworks: read.VENDOR_ALLOWED_NETWORKS, media: mediaConfig(read) };
}

type Read = Partial<CleanedEnv<typeof marketplaceEnvironment>>;

/** Why variables of both processes, which are valid by themselves, can't be used. */
export const findMarketplaceErrors = (read: Read): VariableErrors => ({
  ...findProductionErrors(read),
  ...findMediaErrors(read),
});

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
    USAGE_REQUESTS_PER_MINUTE: wholeNumber({ min: 1, max: 1_000_000_000 })({
      desc: "Maximum reports of usage per minute and caller, per process",
      default: 12_000,
    }),
    DEFAULT_USAGE_LIMITS: str({
      desc: "What usage may cost a practice in a month until it sets a limit of its own: minor units by currency. Plans with usage in other currencies can't be published",
      example: "USD=50000,EUR=50000",
      default: defaultUsageLimits,
    }),
    PUBLIC_URL: url({
      desc: "Where clients reach this service; the URLs of published media begin with it",
      example: "https://marketplace.example.com",
    }),
  };
  const read = readEnvironment(environment, specs, (given) => ({
    ...findMarketplaceErrors(given),
    PUBLIC_URL: findPublicUrlError(given),
    DEFAULT_USAGE_LIMITS: findUsageLimitsError(given.DEFAULT_USAGE_LIMITS),
  }));

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
    usageLimits: parseUsageLimits(read.DEFAULT_USAGE_LIMITS),
    usageRequestsPerMinute: read.USAGE_REQUESTS_PER_MINUTE,
    publicUrl: read.PUBLIC_URL.replace(/\/$/, ""),
    /** Whether the URLs of apps may be http on a loopback address. */
    allowsHttp: read.NODE_ENV !== "production",
  };
}

function findUsageLimitsError(given: string | undefined): string | undefined {
  try {
    if (given !== undefined) parseUsageLimits(given);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function findPublicUrlError({ NODE_ENV, PUBLIC_URL }: { NODE_ENV?: string; PUBLIC_URL?: string }): string | undefined {
  if (NODE_ENV === "development" || NODE_ENV === "test") return undefined;
  return findHttpsError(PUBLIC_URL, "the catalog accepts only such URLs of pictures");
}
