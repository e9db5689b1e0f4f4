import {
  apiRows,
  databaseRows,
  productionEnvironment,
  testProductionConfig,
} from "@ehr-marketplace/tests/support/production-config";
import { readConfig } from "./config.ts";

testProductionConfig(
  "the web service",
  readConfig,
  {
    ...productionEnvironment,
    DATABASE_URL: "postgres://web:secret@db.internal/web?sslmode=verify-full",
    PUBLIC_URL: "https://apps.example",
    MARKETPLACE_URL: "https://marketplace.example/api/v1",
    EHR_URL: "https://ehr.example/api",
    TOKEN_ISSUER: "https://id.example",
    TOKEN_JWKS_URL: "https://id.example/jwks",
    TRUSTED_PROXIES: "10.0.0.0/8",
    OIDC_CLIENT_ID: "marketplace-web",
    OIDC_CLIENT_SECRET: "secret",
  },
  [
    ...apiRows,
    ...databaseRows("DATABASE_URL"),
    ["PUBLIC_URL", "http://apps.example", /must begin with https/],
    ["PUBLIC_URL", "https://apps.example/web", /has more than scheme, host and port/],
    ["MARKETPLACE_URL", "http://marketplace.example/api/v1", /must begin with https/],
    ["EHR_URL", "http://ehr.example/api", /must begin with https/],
    ["TOKEN_ISSUER", "http://id.example", /must begin with https/],
  ],
);
