import { setTimeout as delay } from "node:timers/promises";
import type { Practice } from "@ehr-marketplace/dev/practices";
import { withClient } from "@ehr-marketplace/test-kit";
import { PgBoss } from "pg-boss";
import type { BenchApp } from "./event-source.ts";
import type { BenchReceiver } from "./receiver.ts";
import type { Stoppable } from "./workers.ts";

/** Queues one delivery for each practice and app, each with its own subscription. No worker may run. */
export async function queueDeliveries(ownerUrl: string, practices: Practice[], apps: BenchApp[]): Promise<void> {
  await withClient(ownerUrl, async (client) => {
    const { rows } = await client.query<{ id: string; recipient_id: string }>(
      `with new_rows as (
         select mint_uuid() as subscription_id, mint_uuid() as event_id, mint_uuid() as delivery_id, practice_id, app_id, plan_id
         from unnest($1::uuid[]) as practice_id cross join unnest($2::uuid[], $3::uuid[]) as app (app_id, plan_id)
       ), subscribed as (
         insert into subscriptions
           (id, organisation_id, app_id, pricing_plan_id, status, created_at, updated_at, revision)
         select subscription_id, practice_id, app_id, plan_id, 'active', now(), now(), 1 from new_rows
       ), recorded as (
         insert into events (id, event, subscription_id, occurred_at, payload)
         select event_id, 'subscription.created', subscription_id, now(), $4 from new_rows
       )
       insert into deliveries (id, event_id, recipient_id, subscription_id, sequence, status, created_at)
       select delivery_id, event_id, practice_id, subscription_id, 1, 'queued', now() from new_rows
       returning id, recipient_id`,
      [
        practices.map(({ id }) => id),
        apps.map(({ id }) => id),
        apps.map(({ plan_id }) => plan_id),
        JSON.stringify({ padding: "x".repeat(550) }),
      ],
    );
    const db = { executeSql: (text: string, values: unknown[]) => client.query(text, values) };
    const boss = new PgBoss({ db, schema: "pgboss", migrate: false, supervise: false, schedule: false });
    await boss.start();
    for (let from = 0; from < rows.length; from += 1_000) {
      const jobs = rows
        .slice(from, from + 1_000)
        .map(({ id, recipient_id }) => ({ id, data: {}, group: { id: recipient_id } }));
      await boss.insert("deliveries", jobs, { returnId: false });
    }
    await boss.stop({ graceful: false, close: false });
    await client.query("analyze");
  });
}

export async function queueBare(ownerUrl: string, receiverUrl: string, count: number): Promise<void> {
  const data = JSON.stringify({ url: receiverUrl, body: JSON.stringify({ padding: "x".repeat(550) }) });
  await withClient(ownerUrl, (client) =>
    client.query(
      `insert into bare.job (id, name, data, expire_seconds, deletion_seconds, keep_until, retry_limit, retry_delay,
         retry_backoff, policy)
       select gen_random_uuid(), 'bare', $1::jsonb, 900, 60, now() + interval '1 day', 0, 0, false, 'standard'
       from generate_series(1, $2)`,
      [data, count],
    ),
  );
}

/** Starts workers and returns the deliveries per second from the first arrival to the last. */
export async function measureDrainRate(
  receiver: BenchReceiver,
  count: number,
  start: () => Promise<Stoppable[]>,
): Promise<number> {
  await receiver.arrivals();
  const workers = await start();
  const arrivals = new Map<string, number>();
  const deadline = Date.now() + 120_000;
  while (arrivals.size < count && Date.now() < deadline) {
    await delay(100);
    for (const [id, at] of await receiver.arrivals()) arrivals.set(id, at);
  }
  for (const worker of workers) await worker.stop();
  if (arrivals.size < count) throw new Error(`${arrivals.size} of ${count} arrived`);
  const times = [...arrivals.values()];
  return count / ((Math.max(...times) - Math.min(...times)) / 1_000);
}
