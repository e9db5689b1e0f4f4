import {
  apiConfig,
  apiEnvironment,
  assertFitForProduction,
  ConfigurationError,
  port,
  processConfig,
  processEnvironment,
  readEnvironment,
  str,
  url,
  wholeNumber,
} from "@ehr-marketplace/service-kit/config";
import { tokenConfig, tokenEnvironment } from "@ehr-marketplace/service-kit/tokens";

export type Config = ReturnType<typeof readConfig>;

/** Every variable that the service reads; the README has a row for each. */
export const variables = {
  ...processEnvironment,
  ...apiEnvironment,
  ...tokenEnvironment,
  DATABASE_URL: str({
    desc: "Connection string of the EHR's PostgreSQL, with a login in the role ehr_service",
    example: "postgres://ehr:secret@db.internal:5432/ehr",
  }),
  EHR_PORT: port({ desc: "Port to listen on", default: 8081 }),
  TOKEN_AUDIENCE: str({ desc: "The `aud` that tokens for this service have", default: "ehr" }),
  MARKETPLACE_URL: url({
    desc: "The marketplace's API, with its version segment",
    example: "https://marketplace.example.com/api/v1",
  }),
  MARKETPLACE_TOKEN_URL: str({
    desc: "Where a token with the role ehr-service is asked for (OAuth 2.0 client credentials); without it, nothing is reconciled",
    example: "https://id.example.com/token",
    default: "",
  }),
  MARKETPLACE_CLIENT_ID: str({ desc: "The client that asks for it", default: "" }),
  MARKETPLACE_CLIENT_SECRET: str({ desc: "Its secret", default: "" }),
  MARKETPLACE_TOKEN_PARAMETERS: str({
    desc: "What the identity provider wants to be told beside, form-encoded; {orgAlias} is replaced, and each organisation has a token of its own then",
    example: "scope=organization:{orgAlias}",
    default: "",
  }),
  FHIR_BASE_URL: str({
    desc: "The FHIR server that SMART apps are launched against; {orgAlias} is replaced",
    example: "https://fhir.example.com/{orgAlias}",
  }),
  LAUNCH_LOG_DAYS: wholeNumber({ min: 1, max: 36_500 })({ desc: "How long launches are kept", default: 2_192 }),
  INSTALLATION_CACHE_MEGABYTES: wholeNumber({ min: 1, max: 16_384 })({
    desc: "Memory of this process for installations that were read",
    default: 128,
  }),
};

export function readConfig(environment: NodeJS.ProcessEnv) {
  const read = readEnvironment(environment, variables);
  if (read.NODE_ENV === "production") {
    assertFitForProduction({ metricsToken: read.METRICS_TOKEN, jwksUrl: read.TOKEN_JWKS_URL });
    if (read.MARKETPLACE_TOKEN_URL.startsWith("http:")) {
      throw new ConfigurationError(
        "The configuration can't be used:\n  MARKETPLACE_TOKEN_URL: must begin with https:// in production, because this " +
          "service's secret is sent there.",
      );
    }
  }
  for (const name of ["MARKETPLACE_CLIENT_ID", "MARKETPLACE_CLIENT_SECRET"] as const) {
    if (read.MARKETPLACE_TOKEN_URL !== "" && read[name] === "") {
      throw new ConfigurationError(
        `The configuration can't be used:\n  ${name}: is missing, though MARKETPLACE_TOKEN_URL is set. ${variables[name].desc ?? ""}.`,
      );
    }
  }
  const anyFhirServer = read.FHIR_BASE_URL.replaceAll("{orgAlias}", "alias");
  if (!URL.canParse(anyFhirServer) || !/^https?:/.test(anyFhirServer)) {
    throw new ConfigurationError(
      `The configuration can't be used:\n  FHIR_BASE_URL: "${read.FHIR_BASE_URL}" is not a URL that begins with https:// or http://. ` +
        `${variables.FHIR_BASE_URL.desc ?? ""}.`,
    );
  }
  return {
    ...processConfig(read),
    ...apiConfig(read),
    port: read.EHR_PORT,
    database: {
      url: read.DATABASE_URL,
      poolSize: read.DATABASE_POOL_SIZE,
      statementTimeoutMs: read.STATEMENT_TIMEOUT_MS,
    },
    tokens: { ...tokenConfig(read), audience: read.TOKEN_AUDIENCE },
    marketplace: {
      url: read.MARKETPLACE_URL.replace(/\/+$/, ""),
      // Apps with http URLs, which the marketplace admits on loopback addresses, are for development only.
      allowsHttp: read.NODE_ENV !== "production",
      credentials:
        read.MARKETPLACE_TOKEN_URL === ""
          ? undefined
          : {
              tokenUrl: read.MARKETPLACE_TOKEN_URL,
              clientId: read.MARKETPLACE_CLIENT_ID,
              clientSecret: read.MARKETPLACE_CLIENT_SECRET,
              parameters: read.MARKETPLACE_TOKEN_PARAMETERS,
              plainHttp: read.NODE_ENV !== "production",
            },
    },
    fhirBaseUrl: read.FHIR_BASE_URL,
    launchLogDays: read.LAUNCH_LOG_DAYS,
    installationCacheBytes: read.INSTALLATION_CACHE_MEGABYTES * 1_048_576,
  };
}
