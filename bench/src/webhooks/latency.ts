import { setTimeout as delay } from "node:timers/promises";
import type { Practice } from "@ehr-marketplace/dev/practices";
import { PgBoss } from "pg-boss";
import { percentile } from "../measure.ts";
import type { EventSource } from "./event-source.ts";
import type { BenchReceiver } from "./receiver.ts";

/** Calls `act` at a fixed rate; a slow call doesn't delay the following ones. */
export async function runAtRate(perSecond: number, seconds: number, act: (n: number) => Promise<void>): Promise<void> {
  const began = performance.now();
  const pending: Promise<void>[] = [];
  for (let n = 0; n < perSecond * seconds; n += 1) {
    const due = began + (n * 1_000) / perSecond;
    const wait = due - performance.now();
    if (wait > 0) await delay(wait);
    pending.push(act(n));
  }
  await Promise.all(pending);
}

async function waitForArrivals(
  receiver: BenchReceiver,
  sent: Map<string, number>,
  withinMs: number,
): Promise<number[]> {
  const latencies: number[] = [];
  const deadline = Date.now() + withinMs;
  const missing = new Map(sent);
  while (missing.size > 0 && Date.now() < deadline) {
    for (const [id, at] of await receiver.arrivals()) {
      const committedAt = missing.get(id);
      if (committedAt === undefined) continue;
      missing.delete(id);
      latencies.push(at - committedAt);
    }
    await delay(100);
  }
  if (missing.size > 0) throw new Error(`${missing.size} of ${sent.size} did not arrive`);
  return latencies;
}

export interface Load {
  perSecond: number;
  seconds: number;
}

/** Returns the p95 in milliseconds from an event's commit to its arrival; events for which `isExcluded` is true don't count. */
export async function ourLatency(
  source: EventSource,
  receiver: BenchReceiver,
  practices: Practice[],
  load: Load,
  isExcluded: (n: number) => boolean = () => false,
): Promise<number> {
  const sent = new Map<string, number>();
  await runAtRate(load.perSecond, load.seconds, async (n) => {
    const practice = practices[n];
    if (practice === undefined) throw new Error("all practices are used");
    const { id, committedAt } = await source.record(practice);
    if (!isExcluded(n)) sent.set(id, committedAt);
  });
  return percentile(await waitForArrivals(receiver, sent, 60_000), 0.95);
}

/** Measures the same with pg-boss alone: send, NOTIFY, fetch, POST. */
export async function bareLatency(databaseUrl: string, receiver: BenchReceiver, load: Load): Promise<number> {
  const boss = new PgBoss({ connectionString: databaseUrl, schema: "bare", supervise: false, schedule: false });
  await boss.start();
  const body = JSON.stringify({ event: "subscription.created", padding: "x".repeat(500) });
  const sent = new Map<string, number>();
  await runAtRate(load.perSecond, load.seconds, async () => {
    const began = performance.timeOrigin + performance.now();
    const id = await boss.send("bare", { url: receiver.url, body });
    if (id !== null) sent.set(id, began);
  });
  const latencies = await waitForArrivals(receiver, sent, 60_000);
  await boss.stop({ graceful: false });
  return percentile(latencies, 0.95);
}
