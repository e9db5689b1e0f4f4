import { withClient } from "@ehr-marketplace/test-kit";

/** Inserts waiting deliveries of held recipients, and rows into today's attempt log. */
export async function loadBacklog(ownerUrl: string, given: { held: number; logRows: number }): Promise<void> {
  const recipients = 1_000;
  await withClient(ownerUrl, async (client) => {
    await client.query(
      `insert into organisations (id, alias, display_name, encrypted_secret, created_at, updated_at)
       select gen_random_uuid(), 'held-' || n, 'Held', '1.none', now(), now() from generate_series(1, $1) n`,
      [recipients],
    );
    console.error(`loading ${given.held} held deliveries …`);
    await client.query(
      `insert into events (id, event, occurred_at, payload)
       select gen_random_uuid(), 'subscription.created', now(), repeat('x', 500) from generate_series(1, $1)`,
      [given.held],
    );
    await client.query(
      `insert into deliveries (id, event_id, recipient_id, status, created_at)
       select gen_random_uuid(), e.id, r.id, 'waiting', now()
       from (select id, row_number() over () as n from events) e
       join (select id, row_number() over () as n from recipients where status = 'held') r on r.n = e.n % $1 + 1`,
      [recipients],
    );
    console.error(`loading ${given.logRows} rows of log …`);
    await client.query(
      `insert into delivery_attempts (id, delivery_id, recipient_id, url, attempt, started_at, duration_ms, outcome, status_code)
       select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'https://ehr.example/api/internal/marketplace-webhook',
         1, date_trunc('day', now()) + n * interval '1 millisecond', 12, 'delivered', 204
       from generate_series(1, $1) n`,
      [given.logRows],
    );
    await client.query("vacuum (analyze) events, deliveries, recipients, delivery_attempts");
    // Flush the inserted rows now, so that the measurement doesn't include it.
    await client.query("checkpoint");
  });
}
