import { migrate } from "@ehr-marketplace/service-kit/database";
import { readMigrationConfig } from "./config.ts";

try {
  const { databaseUrl } = readMigrationConfig(process.env);
  const applied = await migrate(databaseUrl, new URL("../migrations", import.meta.url).pathname);
  console.log(applied.length === 0 ? "The schema is up to date." : `Applied: ${applied.join(", ")}`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
