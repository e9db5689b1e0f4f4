import pg from "pg";
import { PgBoss, type Queue } from "pg-boss";
import { queueSchema } from "./queue.ts";

export type Queues = Record<string, Omit<Queue, "name">>;

/** What a service's queue needs in the database and the service may not make itself. */
export async function installQueues(ownerUrl: string, queues: Queues, serviceRole: string): Promise<void> {
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    // Two migrators at once would both find queues missing.
    await client.query("select pg_advisory_lock(hashtext('ehr-marketplace queues'))");
    await createQueues(ownerUrl, queues);
    const role = pg.escapeIdentifier(serviceRole);
    await client.query(`
      grant usage on schema ${queueSchema} to ${role};
      grant select, insert, update, delete on all tables in schema ${queueSchema} to ${role};
      grant usage on all sequences in schema ${queueSchema} to ${role};`);
  } finally {
    await client.end();
  }
}

async function createQueues(ownerUrl: string, queues: Queues): Promise<void> {
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
