import { type MigrationOptions, migrate, restrictDatabase } from "@ehr-marketplace/service-kit/database";
import { installQueues } from "@ehr-marketplace/service-kit/queue";
import { queues } from "./queue/queues.ts";

/** The role without login that has the privileges of the service. */
export const serviceRole = "marketplace_service";
export const migrationsDirectory = new URL("../migrations", import.meta.url).pathname;

/** Applies migrations, installs the queue's schema and restricts access to the database. Needs the owner's login. */
export async function migrateDatabase(ownerUrl: string, options: MigrationOptions = {}): Promise<string[]> {
  const applied = await migrate(ownerUrl, migrationsDirectory, options);
  await installQueues(ownerUrl, queues, serviceRole, options);
  await restrictDatabase(ownerUrl, serviceRole);
  return applied;
}
