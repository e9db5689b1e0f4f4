import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readArguments } from "@ehr-marketplace/dev/command-line";
import { startCluster } from "@ehr-marketplace/dev/postgres";
import { registerPractices } from "@ehr-marketplace/dev/practices";
import { type ServiceDatabase } from "@ehr-marketplace/test-kit";
import { usage } from "../command-usage.ts";
import type { Figure } from "../figures.ts";
import { median } from "../measure.ts";
import { measureDrainRate, queueBare, queueDeliveries } from "./drain.ts";
import { listBenchApps } from "./event-source.ts";
import { bareLatency } from "./latency.ts";
import { loadBacklog } from "./load-backlog.ts";
import { otherSystems } from "./other-systems.ts";
import { startBenchReceiver } from "./receiver.ts";
import { measureLatency, perSecond, prepareBenchDatabase } from "./steady-latency.ts";
import { startBareWorker, startWorker } from "./workers.ts";

async function measureBareLatency(database: ServiceDatabase, seconds: number): Promise<number> {
  const receiver = await startBenchReceiver();
  const worker = await startBareWorker("latency", database.ownerUrl);
  try {
    await bareLatency(database.ownerUrl, receiver, { perSecond, seconds: 2 });
    return await bareLatency(database.ownerUrl, receiver, { perSecond, seconds });
  } finally {
    await worker.stop();
    await receiver.stop();
  }
}

/** Alternates reference and measurement twice, because the load of a shared machine changes within minutes. */
async function measureAlternating(measures: Record<"measured" | "reference", (round: number) => Promise<number>>) {
  const pairs: { measured: number; reference: number }[] = [];
  for (let round = 0; round < 2; round += 1) {
    pairs.push({ reference: await measures.reference(round), measured: await measures.measured(round) });
  }
  const shown = (values: number[]): string => values.map((value) => value.toFixed(1)).join(" and ");
  return {
    measured: `${shown(pairs.map(({ measured }) => measured))} ms`,
    reference: `${shown(pairs.map(({ reference }) => reference))} ms`,
    value: Math.max(...pairs.map(({ measured, reference }) => measured / reference)),
  };
}

async function drainFigures(database: ServiceDatabase): Promise<Figure[]> {
  const count = 20_000;
  const ratios: { ours: number; bare: number }[] = [];
  for (let round = 0; round < 2; round += 1) {
    const receiver = await startBenchReceiver();
    const recipients = await registerPractices(database.ownerUrl, {
      count: 500,
      prefix: `drain-${round}`,
      callbackUrl: receiver.url,
    });
    const apps = await listBenchApps(database.ownerUrl, count / recipients.length);
    await queueDeliveries(database.ownerUrl, recipients, apps);
    const ours = await measureDrainRate(receiver, count, async () => [await startWorker(database.serviceUrl)]);
    await queueBare(database.ownerUrl, receiver.url, count);
    const bare = await measureDrainRate(receiver, count, async () => [
      await startBareWorker("drain", database.ownerUrl),
    ]);
    await receiver.stop();
    ratios.push({ ours, bare });
  }
  const slow = await startBenchReceiver(50);
  const ratesByWorkers: number[] = [];
  for (const workers of [1, 2]) {
    const given = { count: 500, prefix: `slow-${workers}`, callbackUrl: slow.url };
    const recipients = await registerPractices(database.ownerUrl, given);
    await queueDeliveries(database.ownerUrl, recipients, await listBenchApps(database.ownerUrl, 10));
    const start = () =>
      Promise.all(
        Array.from({ length: workers }, () => startWorker(database.serviceUrl, { DELIVERIES_IN_FLIGHT: "32" })),
      );
    ratesByWorkers.push(await measureDrainRate(slow, 5_000, start));
  }
  await slow.stop();
  const [one = 1, two = 0] = ratesByWorkers;
  return [
    {
      name: "2 draining 20,000 to 500 recipients, 128 in flight, per second",
      measured: `${median(ratios.map(({ ours }) => ours)).toFixed(0)}/s`,
      reference: `${median(ratios.map(({ bare }) => bare)).toFixed(0)}/s by a bare loop`,
      value: median(ratios.map(({ ours, bare }) => ours / bare)),
      goal: { atLeast: 0.7 },
    },
    {
      name: "2 two workers against one, receivers of 50 ms, 32 in flight each",
      measured: `${two.toFixed(0)}/s`,
      reference: `${one.toFixed(0)}/s by one`,
      value: two / one,
      goal: { atLeast: 1.5 },
    },
  ];
}

/** Runs on a throwaway cluster with PostgreSQL's default settings; receivers, workers and the reference worker are separate processes. */
export async function webhooksBench(options: string[]): Promise<Figure[]> {
  const { values } = readArguments(usage, {
    args: options,
    options: {
      held: { type: "string", default: "1000000" },
      "log-rows": { type: "string", default: "10000000" },
      seconds: { type: "string", default: "60" },
      figures: { type: "string", default: "1,2,3,4" },
    },
  });
  const seconds = Number(values.seconds);
  const wanted = new Set(values.figures.split(","));
  const directory = await mkdtemp(join(tmpdir(), "ehr-marketplace-bench-"));
  const cluster = await startCluster({ directory, throwaway: true, settings: { max_connections: "300" } });
  try {
    const database = await prepareBenchDatabase(cluster.url, "bench_webhooks");
    console.error("measuring 1: commit to receiver …");
    const bare = await measureBareLatency(database, seconds);
    const ours = await measureLatency(database, "steady", seconds);
    const figures: Figure[] = [
      {
        name: `1 commit to receiver, p95 at ${perSecond} events a second for ${seconds} s`,
        measured: `${ours.toFixed(1)} ms`,
        reference: `${bare.toFixed(1)} ms by pg-boss alone`,
        value: ours / bare,
        goal: { atMost: 2.5 },
      },
    ];
    if (wanted.has("2")) {
      console.error("measuring 2: draining …");
      figures.push(...(await drainFigures(await prepareBenchDatabase(cluster.url, "bench_drain"))));
    }
    if (wanted.has("3")) {
      console.error("measuring 3: one recipient in twenty hangs …");
      const pairs = await measureAlternating({
        measured: (round) => measureLatency(database, `hanging-${round}`, seconds, 20),
        reference: (round) => measureLatency(database, `healthy-${round}`, seconds),
      });
      figures.push({ name: "3 one recipient in twenty hangs: p95 of the others", ...pairs, goal: { atMost: 1.5 } });
    }
    if (wanted.has("4")) {
      console.error("measuring 4: a backlog and a long log …");
      const full = await prepareBenchDatabase(cluster.url, "bench_full");
      await loadBacklog(full.ownerUrl, { held: Number(values.held), logRows: Number(values["log-rows"]) });
      const empty = await prepareBenchDatabase(cluster.url, "bench_empty");
      const pairs = await measureAlternating({
        measured: (round) => measureLatency(full, `loaded-${round}`, seconds),
        reference: (round) => measureLatency(empty, `empty-${round}`, seconds),
      });
      const name = `4 ${values.held} held deliveries, ${values["log-rows"]} log rows, against an empty database: p95`;
      figures.push({ name, ...pairs, goal: { atMost: 1.3 } });
    }
    console.log(otherSystems);
    return figures;
  } finally {
    await cluster.stop();
    await rm(directory, { recursive: true, force: true });
  }
}
