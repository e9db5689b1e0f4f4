import { type MigrationOptions, migrate, restrictDatabase } from "@ehr-marketplace/service-kit/database";
import { installQueues } from "@ehr-marketplace/service-kit/queue";
import { queues } from "./queues.ts";

/** The role without login that has the privileges of the service. */
export const serviceRole = "web_service";
export const migrationsDirectory = new URL("../migrations", import.meta.url).pathname;

/** Creates what the service's role isn't allowed to create: the service's schema and the queue's. */
export async function migrateDatabase(ownerUrl: string, options: MigrationOptions = {}): Promise<string[]> {
  const applied = await migrate(ownerUrl, migrationsDirectory, options);
  await installQueues(ownerUrl, queues, serviceRole, options);
  await restrictDatabase(ownerUrl, serviceRole);
  return applied;
}
