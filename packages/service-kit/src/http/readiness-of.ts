import type { Database } from "../database/connect.ts";
import { pendingMigrations } from "../database/migrate.ts";
import type { Queue } from "../queue/queue.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { Readiness } from "./operations-routes.ts";

/** Why a process can't do its work now, or nothing when it can. */
export function readinessOf<Schema>(needed: {
  database: Database<Schema>;
  queue: Queue;
  migrationsDirectory: string;
  logger: Logger;
}): Readiness {
  const { database, queue, logger } = needed;
  const pending = pendingMigrations(needed.migrationsDirectory);
  return async () => {
    try {
      const missing = await pending(database.query);
      if (missing.length > 0) return `the schema lacks ${missing.join(", ")}; run the migration step`;
      queue.boss();
      return undefined;
    } catch (error) {
      logger.warn({ err: error }, "not ready");
      return "the database can't be reached";
    }
  };
}
