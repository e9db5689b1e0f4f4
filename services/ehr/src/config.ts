import { registrationMethods } from "@ehr-marketplace/contracts";
import {
  apiConfig,
  apiEnvironment,
  type CleanedEnv,
  databaseUrl,
  findHttpsError,
  findProductionErrors,
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

export type Config = ReturnType<typeof readConfig>;

/** Every variable that the service reads; the README has a row for each. */
export const variables = {
  ...processEnvironment,
  ...apiEnvironment,
  ...tokenEnvironment,
  DATABASE_URL: databaseUrl({
    desc: "Connection string of the EHR's PostgreSQL, with a login in the role ehr_service",
    example: "postgres://ehr:secret@db.internal:5432/ehr?sslmode=verify-full",
  }),
  EHR_PORT: port({ desc: "Port to listen on", default: 8081 }),
  TOKEN_AUDIENCE: str({ desc: "The `aud` that tokens for this service have", default: "ehr" }),
  MARKETPLACE_URL: url({
    desc: "The marketplace's API, with its version segment",
    example: "https://marketplace.example.com/api/v1",
  }),
  MARKETPLACE_TOKEN_URL: str({
    desc: "Token endpoint for a token with the role ehr-service (OAuth 2.0 client credentials); without it, nothing is reconciled, connections are not reported, and there are no sandbox apps",
    example: "https://id.example.com/token",
    default: "",
  }),
  MARKETPLACE_CLIENT_ID: str({ desc: "Client id for the token endpoint", default: "" }),
  MARKETPLACE_CLIENT_SECRET: str({ desc: "Client secret for the token endpoint", default: "" }),
  MARKETPLACE_TOKEN_PARAMETERS: str({
    desc: "Further parameters of the token request, form-encoded; with {orgAlias}, which is replaced, each organisation has its own token",
    example: "scope=organization:{orgAlias}",
    default: "",
  }),
  FHIR_BASE_URL: str({
    desc: "The FHIR server that SMART apps are launched against; {orgAlias} is replaced",
    example: "https://fhir.example.com/{orgAlias}",
  }),
  LAUNCH_LOG_DAYS: wholeNumber({ min: 1, max: 36_500 })({
    desc: "Retention of the launch log in days",
    default: 2_192,
  }),
  CLIENT_REGISTRATION: str({
    desc: "How apps' OAuth clients come to the authorization server: it reads them from the marketplace (cimd), this service registers them (dcr), or operators do (manual)",
    choices: [...registrationMethods],
    default: "manual",
  }),
  CLIENT_REGISTRATION_URL: str({
    desc: "For dcr: the authorization server's client registration endpoint (RFC 7591)",
    example: "https://id.example.com/realms/practices/clients-registrations/openid-connect",
    default: "",
  }),
  CLIENT_REGISTRATION_TOKEN: str({ desc: "For dcr: the initial access token, if one is needed", default: "" }),
  CLIENT_REGISTRATION_PER: str({
    desc: "One client for each app, or one for each organisation and app",
    choices: ["app", "organisation"],
    default: "app",
  }),
  INSTALLATION_CACHE_MEGABYTES: wholeNumber({ min: 1, max: 16_384 })({
    desc: "Memory for the installation cache of this process",
    default: 128,
  }),
};

function complaints(read: Partial<CleanedEnv<typeof variables>>): VariableErrors {
  const https = (value: string | undefined, because: string): string | undefined =>
    read.NODE_ENV === "production" ? findHttpsError(value, because) : undefined;
  const withTokenUrl = (value: string | undefined): string | undefined =>
    read.MARKETPLACE_TOKEN_URL && value === "" ? "is missing, though MARKETPLACE_TOKEN_URL is set" : undefined;
  return {
    ...findProductionErrors(read),
    MARKETPLACE_URL: https(read.MARKETPLACE_URL, "it decides which apps are installed and where they are launched"),
    MARKETPLACE_TOKEN_URL: https(read.MARKETPLACE_TOKEN_URL, "this service's secret is sent there"),
    MARKETPLACE_CLIENT_ID: withTokenUrl(read.MARKETPLACE_CLIENT_ID),
    MARKETPLACE_CLIENT_SECRET: withTokenUrl(read.MARKETPLACE_CLIENT_SECRET),
    CLIENT_REGISTRATION_URL:
      registrationUrlComplaint(read) ??
      https(read.CLIENT_REGISTRATION_URL, "it receives the initial access token and decides where apps sign in"),
    CLIENT_REGISTRATION_PER:
      read.CLIENT_REGISTRATION === "cimd" && read.CLIENT_REGISTRATION_PER === "organisation"
        ? "can't be organisation with CLIENT_REGISTRATION=cimd: the marketplace has one document for each app"
        : undefined,
    FHIR_BASE_URL:
      fhirBaseUrlComplaint(read.FHIR_BASE_URL) ?? https(read.FHIR_BASE_URL, "apps exchange patients' data with it"),
  };
}

function registrationUrlComplaint({
  CLIENT_REGISTRATION: method,
  CLIENT_REGISTRATION_URL: endpoint = "",
}: Partial<CleanedEnv<typeof variables>>): string | undefined {
  if (endpoint === "") return method === "dcr" ? "is missing, though CLIENT_REGISTRATION is dcr" : undefined;
  if (URL.canParse(endpoint) && /^https?:\/\//.test(endpoint)) return undefined;
  return `"${endpoint}" is not a URL that begins with https:// or http://`;
}

function fhirBaseUrlComplaint(template: string | undefined): string | undefined {
  const example = template?.replaceAll("{orgAlias}", "alias");
  if (example === undefined) return undefined;
  if (/[{}]/.test(example)) return `"${template}" contains a brace other than those of {orgAlias}`;
  if (URL.canParse(example) && /^https?:/.test(example)) return undefined;
  return `"${template}" is not a URL that begins with https:// or http://`;
}

export function readConfig(environment: NodeJS.ProcessEnv) {
  const read = readEnvironment(environment, variables, complaints);
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
      // Apps with http URLs, which the marketplace accepts on loopback addresses, are for development only.
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
    clientRegistration: {
      method: read.CLIENT_REGISTRATION,
      per: read.CLIENT_REGISTRATION_PER,
      url: read.CLIENT_REGISTRATION_URL,
      token: read.CLIENT_REGISTRATION_TOKEN,
    },
    fhirBaseUrl: read.FHIR_BASE_URL,
    launchLogDays: read.LAUNCH_LOG_DAYS,
    installationCacheBytes: read.INSTALLATION_CACHE_MEGABYTES * 1_048_576,
  };
}
