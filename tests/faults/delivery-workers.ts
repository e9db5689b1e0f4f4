import { eventually, withClient } from "@ehr-marketplace/test-kit";

/** Returns the id of the worker that is registered besides the known ones, as soon as there is one. */
export async function waitForWorker(ownerUrl: string, ...known: number[]): Promise<number> {
  let id: number | undefined;
  await eventually("the worker is registered", 30_000, () =>
    withClient(ownerUrl, async (client) => {
      const { rows } = await client.query<{ id: number }>("select id from delivery_workers where id <> all ($1)", [
        known,
      ]);
      id = rows[0]?.id;
      return id !== undefined;
    }),
  );
  return id ?? 0;
}

/** The ids of the deliveries that this worker has fetched and not settled. */
export function findFetchedBy(ownerUrl: string, workerId: number): Promise<string[]> {
  return withClient(ownerUrl, async (client) => {
    const { rows } = await client.query<{ id: string }>(
      `select job.id from pgboss.job join deliveries on deliveries.id = job.id
       where job.name = 'deliveries' and job.state = 'active' and worker_id = $1`,
      [workerId],
    );
    return rows.map(({ id }) => id);
  });
}
