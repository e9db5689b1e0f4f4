import { migrate, restrictDatabase } from "@ehr-marketplace/service-kit/database";
import { installQueues } from "@ehr-marketplace/service-kit/queue";
import { queues } from "./queue/queues.ts";

export const migrationsDirectory = new URL("../migrations", import.meta.url).pathname;

/** Everything that the services need in the database and may not make themselves: our schema, and the queue's. */
export async function migrateDatabase(ownerUrl: string): Promise<string[]> {
  const applied = await migrate(ownerUrl, migrationsDirectory);
  await installQueues(ownerUrl, queues, "marketplace_service");
  await restrictDatabase(ownerUrl, "marketplace_service");
  return applied;
}
