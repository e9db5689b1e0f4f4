import { withClient } from "@ehr-marketplace/test-kit";

/** Simulates the passing of time: shifts stored times of jobs, deliveries, held recipients and held origins into the past. */
export async function advanceTime(ownerUrl: string, milliseconds: number): Promise<void> {
  const interval = `${milliseconds} milliseconds`;
  await withClient(ownerUrl, async (client) => {
    await client.query("begin");
    await client.query(
      "update pgboss.job set start_after = start_after - $1::interval, keep_until = keep_until where state < 'active'",
      [interval],
    );
    await client.query(
      `update deliveries set next_attempt_at = next_attempt_at - $1::interval, created_at = created_at - $1::interval,
         restarted_at = restarted_at - $1::interval
       where status in ('waiting', 'queued')`,
      [interval],
    );
    await client.query(
      `update recipients set held_since = held_since - $1::interval, disabled_at = disabled_at - $1::interval
       where held_since is not null`,
      [interval],
    );
    await client.query(
      "update callback_origins set held_since = held_since - $1::interval where held_since is not null",
      [interval],
    );
    await client.query("commit");
  });
}

/** Expires the leases of jobs that have been active for at least `activeForMs`, and returns how many had not expired yet. */
export async function expireLeases(ownerUrl: string, activeForMs = 0): Promise<number> {
  const { rowCount } = await withClient(ownerUrl, (client) =>
    client.query(
      `update pgboss.job set started_on = started_on - interval '1 hour'
       where state = 'active' and started_on <= now() - $1::interval
         and started_on + expire_seconds * interval '1 second' > now()`,
      [`${activeForMs} milliseconds`],
    ),
  );
  return rowCount ?? 0;
}
