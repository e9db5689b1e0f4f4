import pg from "pg";
import { ConfigurationError } from "../config/read-environment.ts";
import { readMigrationConfig } from "../config/service-environment.ts";

/** The migration command of `service`. `migrate` returns the names of the migrations that it applied. */
export async function runMigration(service: string, migrate: (ownerUrl: string) => Promise<string[]>): Promise<void> {
  try {
    const { databaseUrl } = readMigrationConfig(process.env, service);
    await requireConnection(databaseUrl);
    const applied = await migrate(databaseUrl);
    console.log(applied.length === 0 ? "The schema is up to date." : `Applied: ${applied.join(", ")}`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}

async function requireConnection(databaseUrl: string): Promise<void> {
  const client = new pg.Client(databaseUrl);
  try {
    await client.connect();
  } catch (error) {
    // If the host name has several addresses, the error has a code and no message.
    const { message, code } = error as NodeJS.ErrnoException;
    throw new ConfigurationError(`MIGRATION_DATABASE_URL: failed to connect to the database: ${message || code}`);
  }
  await client.end();
}
