import type { Kysely } from "kysely";
import { productionComplaints } from "../config/production.ts";
import { databaseUrl, readEnvironment } from "../config/read-environment.ts";
import { nodeEnvironment, sealingKeys } from "../config/service-environment.ts";
import { connectDatabase } from "../database/connect.ts";
import { createLogger } from "../telemetry/logger.ts";
import { startTracing } from "../telemetry/tracing.ts";
import { createSeal, type Seal } from "./seal.ts";

/** Seals with the current version what was sealed with another, and answers how many there were. */
export type Reseal<Schema> = (database: Kysely<Schema>, seal: Seal, currentVersion: number) => Promise<number>;

export function readResealConfig(environment: NodeJS.ProcessEnv) {
  const specs = {
    NODE_ENV: nodeEnvironment,
    DATABASE_URL: databaseUrl({ desc: "Connection string of the service's PostgreSQL, with the service's own login" }),
    ENCRYPTION_KEYS: sealingKeys,
  };
  return readEnvironment(environment, specs, productionComplaints);
}

/** The command of a service whose encryption key was rotated. Safe to stop, to repeat, and beside running processes. */
export async function runReseal<Schema>(service: string, reseals: Reseal<Schema>[]): Promise<void> {
  try {
    const { DATABASE_URL: url, ENCRYPTION_KEYS: keys } = readResealConfig(process.env);
    const database = connectDatabase<Schema>({
      url,
      service,
      poolSize: 1,
      statementTimeoutMs: 30_000,
      logger: createLogger({ service, level: "warn" }),
      tracing: await startTracing(service, undefined),
    });
    try {
      const seal = createSeal(keys);
      let resealed = 0;
      for (const reseal of reseals) resealed += await reseal(database.query, seal, keys.current);
      console.log(`Sealed with version ${keys.current}: ${resealed} that had another one. All have it now.`);
    } finally {
      await database.query.destroy();
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
