import { readMigrationConfig } from "@ehr-marketplace/service-kit/config";
import { readReencryptionConfig } from "@ehr-marketplace/service-kit/secrets";
import {
  apiRows,
  databaseRows,
  encryptionKeyRows,
  metricsTokenRows,
  productionEnvironment,
  testProductionConfig,
} from "@ehr-marketplace/tests/support";
import { readConfig } from "./config.ts";
import { readWorkerConfig } from "./worker-config.ts";

const { ENCRYPTION_KEYS = "" } = productionEnvironment;
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
  },
  [...apiRows, ...databaseRows("DATABASE_URL")],
);

testProductionConfig("the worker", readWorkerConfig, { ...productionEnvironment, DATABASE_URL }, [
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
