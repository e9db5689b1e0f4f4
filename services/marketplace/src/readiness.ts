import { type Database, pendingMigrations } from "@ehr-marketplace/service-kit/database";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { DB } from "./database-schema.ts";
import { migrationsDirectory } from "./migrate-database.ts";
import type { Queue } from "./queue/queue.ts";

/** Why a process of this service can't do its work now, or nothing when it can. */
export function readinessOf(database: Database<DB>, queue: Queue, logger: Logger): () => Promise<string | undefined> {
  const pending = pendingMigrations(migrationsDirectory);
  return async () => {
    try {
      const missing = await pending(database.query);
      if (missing.length > 0) return `the schema lacks ${missing.join(", ")}; run the migration step`;
      await queue.boss();
      return undefined;
    } catch (error) {
      logger.warn({ err: error }, "not ready");
      return "the database can't be reached";
    }
  };
}
