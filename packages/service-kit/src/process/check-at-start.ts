import type { Pool } from "pg";
import { isDatabaseUnavailable } from "../database/database-unavailable.ts";
import { migrationsTable } from "../database/migrate.ts";
import { retryUntilDone } from "../queue/run-repeatedly.ts";
import { createEncryption } from "../secrets/encryption.ts";
import type { EncryptionKeys } from "../secrets/encryption-keys.ts";
import { type EncryptedColumn, sampleUndecryptable } from "../secrets/find-undecryptable.ts";
import type { Logger } from "../telemetry/logger.ts";

interface StartCheckDeps {
  pool: Pool;
  /** The role that limits what the process may change. */
  serviceRole: string;
  encryptionKeys: EncryptionKeys;
  encryptedColumns: EncryptedColumn[];
  logger: Logger;
}

const retryPauseMs = 5_000;

/**
 * Logs mistakes of the configuration that would otherwise be noticed late: a login with too many privileges, and encryption keys that
 * don't match the stored secrets. Runs in the background, because the process can serve requests nevertheless.
 */
export function checkAtStart(deps: StartCheckDeps): { stop(): Promise<void> } {
  const { logger } = deps;
  const stopping = new AbortController();
  const check = async (): Promise<void> => {
    try {
      await warnIfOwner(deps);
      await reportUndecryptable(deps);
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      // Such as a table that a pending migration creates; readiness reports those.
      logger.warn({ err: error }, "failed to check login and encryption keys; continuing without the check");
    }
  };
  const checked = retryUntilDone({
    work: check,
    failureMessage: "failed to check login and encryption keys",
    pauseMs: retryPauseMs,
    logger,
    stopped: stopping.signal,
  });
  return {
    stop() {
      stopping.abort();
      return checked;
    },
  };
}

async function warnIfOwner({ pool, serviceRole, logger }: StartCheckDeps): Promise<void> {
  const { rows } = await pool.query<{ login: string }>(
    "select current_user as login from pg_class where oid = to_regclass($1) and pg_has_role(relowner, 'usage')",
    [migrationsTable],
  );
  for (const { login } of rows) {
    logger.warn(
      { login, serviceRole },
      `the login of DATABASE_URL owns the tables, so nothing restricts it; use a login with only the role ${serviceRole}`,
    );
  }
}

async function reportUndecryptable({ pool, encryptionKeys, encryptedColumns, logger }: StartCheckDeps): Promise<void> {
  const encryption = createEncryption(encryptionKeys);
  const reported = new Set<string>();
  for (const each of encryptedColumns) {
    for (const { column, row, error } of await sampleUndecryptable(pool, encryption, each)) {
      // One line for each missing version, however many secrets it encrypts
      if (reported.has(error.message)) continue;
      reported.add(error.message);
      logger.error(
        { column, row, err: error },
        "failed to decrypt a stored secret; correct ENCRYPTION_KEYS and restart",
      );
    }
  }
}
