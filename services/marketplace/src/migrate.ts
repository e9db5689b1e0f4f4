import { readMigrationConfig } from "@ehr-marketplace/service-kit/config";
import { migrateDatabase } from "./migrate-database.ts";

try {
  const { databaseUrl } = readMigrationConfig(process.env);
  const applied = await migrateDatabase(databaseUrl);
  console.log(applied.length === 0 ? "The schema is up to date." : `Applied: ${applied.join(", ")}`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
