import { readMigrationConfig } from "../config/service-environment.ts";

/** The command that a service's schema is brought up to date with; `migrate` answers what it applied. */
export async function runMigration(migrate: (ownerUrl: string) => Promise<string[]>): Promise<void> {
  try {
    const applied = await migrate(readMigrationConfig(process.env).databaseUrl);
    console.log(applied.length === 0 ? "The schema is up to date." : `Applied: ${applied.join(", ")}`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
