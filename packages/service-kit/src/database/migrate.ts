import { readdirSync } from "node:fs";
import { basename, extname } from "node:path";
import type pg from "pg";
import { retryLocks } from "./retry-locks.ts";

export const migrationsTable = "schema_migrations";

/** How a service's schema, and that of its queue, are migrated. */
export interface MigrationOptions {
  /** Whether an older schema of the queue is upgraded, after which older processes can't start any more. A missing one is installed. */
  upgradesQueue?: boolean;
  /** Called with a line about the progress. */
  report?: (line: string) => void;
}

/**
 * Applies the pending migrations in one transaction, under an advisory lock that makes concurrent migrators wait. It is tried again while
 * somebody else holds a lock that it needs.
 */
export async function migrate(
  database: string | pg.ClientConfig,
  directory: string,
  { report = () => undefined }: MigrationOptions = {},
): Promise<string[]> {
  // Imported here: every process of a service imports this module to find pending migrations, and only the migration step applies them.
  const { runner } = await import("node-pg-migrate");
  const silent = (): undefined => undefined;
  let current: string | undefined;
  const noteCurrent = (line: string): void => {
    current = /^### MIGRATION (\S+) /.exec(line)?.[1] ?? current;
  };
  const run = (dbClient: pg.Client) =>
    runner({
      dbClient,
      dir: directory,
      direction: "up",
      migrationsTable,
      singleTransaction: true,
      advisoryLockMode: "wait",
      logger: { debug: silent, info: noteCurrent, warn: silent, error: silent },
    });
  try {
    const applied = await retryLocks(database, run, report);
    return applied.map((migration) => migration.name);
  } catch (error) {
    if (current === undefined || !(error instanceof Error)) throw error;
    throw new Error(`The migration ${current} failed: ${error.message}`, { cause: error });
  }
}

function listMigrations(directory: string): string[] {
  return readdirSync(directory)
    .filter((file) => extname(file) === ".sql")
    .map((file) => basename(file, ".sql"))
    .toSorted();
}

/** Lists the migrations that this code needs and the database lacks. Newer migrations in the database are allowed during a rollout. */
export function pendingMigrations(directory: string): (pool: pg.Pool) => Promise<string[]> {
  const needed = listMigrations(directory);
  return async (pool) => {
    const known = await pool.query<{ known: boolean }>("select to_regclass($1) is not null as known", [
      migrationsTable,
    ]);
    if (known.rows[0]?.known !== true) return needed;
    const { rows } = await pool.query<{ name: string }>(`select name from ${migrationsTable}`);
    const applied = new Set(rows.map((row) => row.name));
    return needed.filter((name) => !applied.has(name));
  };
}
