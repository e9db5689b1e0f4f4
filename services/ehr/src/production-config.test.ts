import {
  apiRows,
  databaseRows,
  productionEnvironment,
  testProductionConfig,
} from "@ehr-marketplace/tests/support/production-config";
import { readConfig } from "./config.ts";

testProductionConfig(
  "the EHR service",
  readConfig,
  {
    ...productionEnvironment,
    DATABASE_URL: "postgres://ehr:secret@db.internal/ehr?sslmode=verify-full",
    TOKEN_ISSUER: "https://id.example",
    TOKEN_JWKS_URL: "https://id.example/jwks",
    TRUSTED_PROXIES: "10.0.0.0/8",
    MARKETPLACE_URL: "https://marketplace.example/api/v1",
    MARKETPLACE_TOKEN_URL: "https://id.example/token",
    MARKETPLACE_CLIENT_ID: "ehr",
    MARKETPLACE_CLIENT_SECRET: "secret",
    FHIR_BASE_URL: "https://fhir.example/{orgAlias}",
    CLIENT_REGISTRATION: "dcr",
    CLIENT_REGISTRATION_URL: "https://id.example/register",
  },
  [
    ...apiRows,
    ...databaseRows("DATABASE_URL"),
    ["MARKETPLACE_URL", "http://marketplace.example/api/v1", /must begin with https/],
    ["MARKETPLACE_TOKEN_URL", "http://id.example/token", /must begin with https/],
    ["MARKETPLACE_CLIENT_ID", "", /is missing, though MARKETPLACE_TOKEN_URL is set/],
    ["MARKETPLACE_CLIENT_SECRET", "", /is missing, though MARKETPLACE_TOKEN_URL is set/],
    ["FHIR_BASE_URL", "http://fhir.example/{orgAlias}", /must begin with https/],
    ["FHIR_BASE_URL", "https://fhir.example/{org}", /contains a brace other than those of \{orgAlias\}/],
    [
      "FHIR_BASE_URL",
      "https://fhir.example/{orgAlias}/{{orgAlias}}",
      /contains a brace other than those of \{orgAlias\}/,
    ],
    ["FHIR_BASE_URL", "fhir.example/{orgAlias}", /is not a URL/],
    ["CLIENT_REGISTRATION_URL", "http://id.example/register", /must begin with https/],
    ["CLIENT_REGISTRATION_URL", "id.example/register", /is not a URL/],
    ["CLIENT_REGISTRATION_URL", "", /is missing, though CLIENT_REGISTRATION is dcr/],
  ],
  [
    "MARKETPLACE_TOKEN_URL",
    "MARKETPLACE_CLIENT_ID",
    "MARKETPLACE_CLIENT_SECRET",
    "CLIENT_REGISTRATION",
    "CLIENT_REGISTRATION_URL",
  ],
);
