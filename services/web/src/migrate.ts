import { runMigration } from "@ehr-marketplace/service-kit/database";
import { migrateDatabase } from "./migrate-database.ts";

await runMigration("web", migrateDatabase);
