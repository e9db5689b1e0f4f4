import { connectDatabase } from "@ehr-marketplace/service-kit/database";
import { createSeal } from "@ehr-marketplace/service-kit/secrets";
import { createLogger, startTracing } from "@ehr-marketplace/service-kit/telemetry";
import { readResealConfig } from "./config.ts";
import type { DB } from "./database-schema.ts";
import { resealSecrets } from "./organisations/reseal-secrets.ts";
import { resealEndpoints } from "./webhooks/endpoints/reseal-endpoints.ts";

const service = "marketplace-reseal";

try {
  const { databaseUrl, encryptionKeys } = readResealConfig(process.env);
  const database = connectDatabase<DB>({
    url: databaseUrl,
    service,
    poolSize: 1,
    statementTimeoutMs: 30_000,
    logger: createLogger({ service, level: "warn" }),
    tracing: await startTracing(service, undefined),
  });
  try {
    const seal = createSeal(encryptionKeys);
    const resealed =
      (await resealSecrets(database.query, seal, encryptionKeys.current)) +
      (await resealEndpoints(database.query, seal, encryptionKeys.current));
    console.log(`Sealed with version ${encryptionKeys.current}: ${resealed} that had another one. All have it now.`);
  } finally {
    await database.query.destroy();
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
