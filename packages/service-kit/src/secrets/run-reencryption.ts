import type { Kysely } from "kysely";
import type { Pool } from "pg";
import { findProductionErrors } from "../config/production-errors.ts";
import { databaseUrl, readEnvironment } from "../config/read-environment.ts";
import { encryptionKeysVariable, nodeEnvironment } from "../config/service-environment.ts";
import { connectDatabase } from "../database/connect.ts";
import { createLogger } from "../telemetry/logger.ts";
import { startTracing } from "../telemetry/tracing.ts";
import { createEncryption, type Encryption } from "./encryption.ts";
import { type EncryptedColumn, findUndecryptable } from "./find-undecryptable.ts";

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

const maxListed = 20;

/** Secrets of the current version are decrypted too: their key may be another one with the same version. */
async function requireDecryptable(pool: Pool, encryption: Encryption, columns: EncryptedColumn[]): Promise<void> {
  const listed: string[] = [];
  let count = 0;
  for (const each of columns) {
    for await (const { column, row, error } of findUndecryptable(pool, encryption, each)) {
      count += 1;
      if (count <= maxListed) listed.push(`${column} of the row ${row}: ${error.message}`);
    }
  }
  if (count === 0) return;
  if (count > maxListed) listed.push(`… and ${count - maxListed} more`);
  throw new Error(
    `${countSecrets(count)} can't be decrypted with ENCRYPTION_KEYS. Nothing was re-encrypted; keep all keys.\n${listed.join("\n")}`,
  );
}

const countSecrets = (count: number): string => `${count} ${count === 1 ? "secret" : "secrets"}`;

/**
 * The command to run after a rotation of the encryption key. It can be interrupted, repeated, and run beside live processes. It first
 * decrypts all secrets, and changes nothing if one can't be decrypted.
 */
export async function runReencryption<Schema>(
  service: string,
  columns: EncryptedColumn[],
  reencryptions: Reencrypt<Schema>[],
): Promise<void> {
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
      await requireDecryptable(database.pool, encryption, columns);
      let count = 0;
      for (const reencrypt of reencryptions) count += await reencrypt(database.query, encryption, keys.current);
      console.log(`Re-encrypted ${countSecrets(count)}. All secrets use key version ${keys.current} now.`);
    } finally {
      // Kysely would end the pool only if it had executed a query itself.
      await database.pool.end();
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
