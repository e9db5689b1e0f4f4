import type { Database } from "../database/connect.ts";
import { DatabaseUnavailableError, isDatabaseUnavailable, isRefusedLogin } from "../database/database-unavailable.ts";
import { pendingMigrations } from "../database/migrate.ts";
import { isReadOnly, requireWritable } from "../database/read-only.ts";
import type { Queue } from "../queue/queue.ts";
import { QueueVersionError } from "../queue/queue-version.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { NotReadyReason, ReadinessCheck } from "./operations-routes.ts";

/**
 * Checks the migrations, the queue, and that the database can be written. Returns why the process isn't ready, or undefined if it is. Uses the pool, which doesn't wait for
 * an unavailable database as requests do: a proxy should learn of an outage at once.
 */
export function createReadinessCheck<Schema>(deps: {
  database: Database<Schema>;
  queue: Queue;
  migrationsDirectory: string;
  logger: Logger;
  /**
   * Whether pages work without the database. Then a process that has been ready stays so while the database is unavailable: otherwise a
   * proxy would stop sending requests to all processes, for pages that don't need it too.
   */
  servesWithoutDatabase?: boolean;
}): ReadinessCheck {
  const { database, queue, logger, servesWithoutDatabase = false } = deps;
  let wasReady = false;
  const pending = pendingMigrations(deps.migrationsDirectory);
  return async () => {
    try {
      const missing = await pending(database.pool);
      if (missing.length > 0) {
        logger.warn({ missing }, "the schema lacks migrations; reporting not ready");
        return "migrations-missing";
      }
      await database.pool.query(requireWritable);
      queue.boss();
      wasReady = true;
      return undefined;
    } catch (error) {
      if (servesWithoutDatabase && wasReady && isDatabaseUnavailable(error)) {
        logger.warn({ err: error }, "the database is unavailable; staying ready for what doesn't need it");
        return undefined;
      }
      logger.warn({ err: error }, "readiness check failed; reporting not ready");
      return findReason(error);
    }
  };
}

function findReason(error: unknown): NotReadyReason {
  // The queue hasn't started: it says why.
  if (error instanceof DatabaseUnavailableError && error.cause !== undefined) return findReason(error.cause);
  if (error instanceof QueueVersionError) return "queue-version";
  if (isReadOnly(error)) return "database-read-only";
  if (isDatabaseUnavailable(error)) return "database-unavailable";
  return isRefusedLogin(error) ? "database-login-refused" : "check-failed";
}
