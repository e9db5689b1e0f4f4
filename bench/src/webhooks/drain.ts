import { setTimeout as delay } from "node:timers/promises";
import { withClient } from "@ehr-marketplace/dev/postgres";
import type { Practice } from "@ehr-marketplace/dev/practices";
import type { BenchReceiver } from "./receiver.ts";
import type { BenchApp, EventSource } from "./record.ts";
import type { Stoppable } from "./workers.ts";

/** Queues one delivery for each practice and app while nobody delivers. */
export async function queueDeliveries(source: EventSource, practices: Practice[], apps: BenchApp[]): Promise<void> {
  const left = practices.flatMap((practice) => apps.map((app) => ({ practice, app })));
  await Promise.all(
    Array.from({ length: 10 }, async () => {
      for (let next = left.pop(); next !== undefined; next = left.pop()) await source.record(next.practice, next.app);
    }),
  );
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

/** Deliveries a second, from the first arrival to the last. */
export async function drained(
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
