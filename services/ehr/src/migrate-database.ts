import { migrate, restrictDatabase } from "@ehr-marketplace/service-kit/database";
import { installQueues } from "@ehr-marketplace/service-kit/queue";
import { queues } from "./queues.ts";

export const migrationsDirectory = new URL("../migrations", import.meta.url).pathname;

/** Everything that the service needs in the database and may not make itself: our schema, and the queue's. */
export async function migrateDatabase(ownerUrl: string): Promise<string[]> {
  const applied = await migrate(ownerUrl, migrationsDirectory);
  await installQueues(ownerUrl, queues, "ehr_service");
  await restrictDatabase(ownerUrl, "ehr_service");
  return applied;
}
