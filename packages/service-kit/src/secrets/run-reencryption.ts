import type { Kysely } from "kysely";
import { findProductionErrors } from "../config/production-errors.ts";
import { databaseUrl, readEnvironment } from "../config/read-environment.ts";
import { encryptionKeysVariable, nodeEnvironment } from "../config/service-environment.ts";
import { connectDatabase } from "../database/connect.ts";
import { createLogger } from "../telemetry/logger.ts";
import { startTracing } from "../telemetry/tracing.ts";
import { createEncryption, type Encryption } from "./encryption.ts";

/** Re-encrypts all secrets of other key versions with the current one, and returns their number. */
export type Reencrypt<Schema> = (
  database: Kysely<Schema>,
  encryption: Encryption,
  currentVersion: number,
) => Promise<number>;

export function readReencryptionConfig(environment: NodeJS.ProcessEnv) {
  const specs = {
    NODE_ENV: nodeEnvironment,
    DATABASE_URL: databaseUrl({
      desc: "Connection string of the service's PostgreSQL, with the service's own login",
      example: "postgres://service:secret@db.internal:5432/service?sslmode=verify-full",
    }),
    ENCRYPTION_KEYS: encryptionKeysVariable,
  };
  return readEnvironment(environment, specs, findProductionErrors);
}

/** The command to run after a rotation of the encryption key. It can be interrupted, repeated, and run beside live processes. */
export async function runReencryption<Schema>(service: string, reencryptions: Reencrypt<Schema>[]): Promise<void> {
  try {
    const { DATABASE_URL: url, ENCRYPTION_KEYS: keys } = readReencryptionConfig(process.env);
    const database = connectDatabase<Schema>({
      url,
      service,
      poolSize: 1,
      statementTimeoutMs: 30_000,
      logger: createLogger({ service, level: "warn" }),
      tracing: await startTracing(service, undefined),
    });
    try {
      const encryption = createEncryption(keys);
      let count = 0;
      for (const reencrypt of reencryptions) count += await reencrypt(database.query, encryption, keys.current);
      console.log(`Re-encrypted ${count} secrets. All secrets use key version ${keys.current} now.`);
    } finally {
      await database.query.destroy();
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
