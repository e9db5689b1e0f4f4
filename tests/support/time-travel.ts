import { withClient } from "@ehr-marketplace/dev/postgres";

/** Lets time pass for all that is due: stored times are shifted into the past, pg-boss's own included. */
export async function letTimePass(ownerUrl: string, milliseconds: number): Promise<void> {
  const by = `${milliseconds} milliseconds`;
  await withClient(ownerUrl, async (client) => {
    await client.query("begin");
    await client.query(
      "update pgboss.job set start_after = start_after - $1::interval, keep_until = keep_until where state < 'active'",
      [by],
    );
    await client.query(
      `update deliveries set next_attempt_at = next_attempt_at - $1::interval, created_at = created_at - $1::interval,
         begun_anew_at = begun_anew_at - $1::interval
       where status in ('waiting', 'queued')`,
      [by],
    );
    await client.query(
      `update recipients set held_since = held_since - $1::interval, disabled_at = disabled_at - $1::interval
       where held_since is not null`,
      [by],
    );
    await client.query("commit");
  });
}

/**
 * Ends the leases of whoever has had jobs in hand for so long: as if the time that a worker may keep them had passed.
 * Answers how many had not ended yet.
 */
export async function letLeasesEnd(ownerUrl: string, heldForMs = 0): Promise<number> {
  const { rowCount } = await withClient(ownerUrl, (client) =>
    client.query(
      `update pgboss.job set started_on = started_on - interval '1 hour'
       where state = 'active' and started_on <= now() - $1::interval
         and started_on + expire_seconds * interval '1 second' > now()`,
      [`${heldForMs} milliseconds`],
    ),
  );
  return rowCount ?? 0;
}
