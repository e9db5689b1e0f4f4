import { readMigrationConfig } from "@ehr-marketplace/service-kit/config";
import { readReencryptionConfig } from "@ehr-marketplace/service-kit/secrets";
import {
  apiRows,
  databaseRows,
  encryptionKeyRows,
  metricsTokenRows,
  type ProductionRow,
  productionEnvironment,
  testProductionConfig,
} from "@ehr-marketplace/tests/support/production-config";
import { readConfig } from "./config.ts";
import { readWorkerConfig } from "./worker-config.ts";

const { ENCRYPTION_KEYS = "" } = productionEnvironment;
const MEDIA_DIRECTORY = "/var/lib/marketplace/media";
const mediaRows: ProductionRow[] = [
  ["MEDIA_DIRECTORY", "", /is required/],
  ["MEDIA_ENDPOINT", "http://s3.internal", /must begin with https/],
];
const DATABASE_URL = "postgres://marketplace:secret@db.internal/marketplace?sslmode=verify-full";

testProductionConfig(
  "the API",
  readConfig,
  {
    ...productionEnvironment,
    DATABASE_URL,
    TOKEN_ISSUER: "https://id.example",
    TOKEN_JWKS_URL: "https://id.example/jwks",
    TRUSTED_PROXIES: "none",
    PUBLIC_URL: "https://marketplace.example",
    MEDIA_DIRECTORY,
  },
  [
    ...apiRows,
    ...databaseRows("DATABASE_URL"),
    ...mediaRows,
    ["PUBLIC_URL", "http://marketplace.example", /must begin with https/],
  ],
);

testProductionConfig("the worker", readWorkerConfig, { ...productionEnvironment, DATABASE_URL, MEDIA_DIRECTORY }, [
  ...mediaRows,
  ...encryptionKeyRows,
  ...metricsTokenRows,
  ...databaseRows("DATABASE_URL"),
]);

testProductionConfig("re-encryption", readReencryptionConfig, { ENCRYPTION_KEYS, DATABASE_URL }, [
  ...encryptionKeyRows,
  ...databaseRows("DATABASE_URL"),
]);

testProductionConfig(
  "the migration step",
  (environment) => readMigrationConfig(environment, "marketplace"),
  { MIGRATION_DATABASE_URL: DATABASE_URL },
  [["MIGRATION_DATABASE_URL", "", /is required/], ...databaseRows("MIGRATION_DATABASE_URL")],
);
