import { migrate } from "@ehr-marketplace/service-kit/database";
import pg from "pg";
import { PgBoss } from "pg-boss";
import { queueSchema } from "./queue/queue.ts";
import { queues } from "./queue/queues.ts";

export const migrationsDirectory = new URL("../migrations", import.meta.url).pathname;

/** Everything that the services need in the database and may not make themselves: our schema, and the queue's. */
export async function migrateDatabase(ownerUrl: string): Promise<string[]> {
  const applied = await migrate(ownerUrl, migrationsDirectory);
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    // Two migrators at once would both find queues missing.
    await client.query("select pg_advisory_lock(hashtext('ehr-marketplace queues'))");
    await installQueues(ownerUrl);
    await client.query(`
      grant usage on schema ${queueSchema} to marketplace_service;
      grant select, insert, update, delete on all tables in schema ${queueSchema} to marketplace_service;
      grant usage on all sequences in schema ${queueSchema} to marketplace_service;`);
  } finally {
    await client.end();
  }
  return applied;
}

async function installQueues(ownerUrl: string): Promise<void> {
  const boss = new PgBoss({
    connectionString: ownerUrl,
    schema: queueSchema,
    max: 2,
    supervise: false,
    schedule: false,
    migrate: true,
  });
  boss.on("error", () => undefined);
  await boss.start();
  try {
    for (const [name, options] of Object.entries(queues)) {
      // Neither can be changed once a queue is there.
      const { policy: _policy, partition: _partition, ...changeable } = options;
      if ((await boss.getQueue(name)) === null) await boss.createQueue(name, options);
      else await boss.updateQueue(name, changeable);
    }
  } finally {
    await boss.stop({ graceful: false });
  }
}
