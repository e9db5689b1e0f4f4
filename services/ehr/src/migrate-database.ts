import { migrate, restrictDatabase } from "@ehr-marketplace/service-kit/database";
import { installQueues } from "@ehr-marketplace/service-kit/queue";
import { queues } from "./queues.ts";

export const migrationsDirectory = new URL("../migrations", import.meta.url).pathname;

/** Creates what the service's role isn't allowed to create: the service's schema and the queue's. */
export async function migrateDatabase(ownerUrl: string): Promise<string[]> {
  const applied = await migrate(ownerUrl, migrationsDirectory);
  await installQueues(ownerUrl, queues, "ehr_service");
  await restrictDatabase(ownerUrl, "ehr_service");
  return applied;
}
