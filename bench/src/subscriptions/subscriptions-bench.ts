import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readArguments } from "@ehr-marketplace/dev/command-line";
import { startIdentityProvider } from "@ehr-marketplace/dev/identity-provider";
import { loadWithProgress } from "@ehr-marketplace/dev/plausible-apps";
import { prepareMarketplaceDatabase, startCluster } from "@ehr-marketplace/dev/postgres";
import { usage } from "../command-usage.ts";
import type { Figure } from "../figures.ts";
import { createThroughput } from "./create-throughput.ts";
import { listLatency } from "./list-latency.ts";
import { loadSubscriptions } from "./load-subscriptions.ts";

const few = 10_000;
const apps = 1_000;

/** Runs on a throwaway cluster with PostgreSQL's default settings and an identity provider; every token is verified. */
export async function subscriptionsBench(options: string[]): Promise<Figure[]> {
  const { values } = readArguments(usage, {
    args: options,
    options: { subscriptions: { type: "string", default: "1000000" } },
  });
  const many = Number(values.subscriptions);
  const directory = await mkdtemp(join(tmpdir(), "ehr-marketplace-bench-"));
  const cluster = await startCluster({ directory, throwaway: true });
  const issuer = await startIdentityProvider({ port: 0 });
  try {
    const [small, large] = [
      await prepareMarketplaceDatabase(cluster.url, "bench_small"),
      await prepareMarketplaceDatabase(cluster.url, "bench_large"),
    ];
    for (const [database, count] of [
      [small, few],
      [large, many],
    ] as const) {
      await loadWithProgress(database.ownerUrl, { count: apps, seed: 1 });
      console.error(`loading ${count} subscriptions …`);
      await loadSubscriptions(database.ownerUrl, count);
    }
    console.error("measuring 2 of 2: list …");
    const sized = (database: typeof small, count: number) => ({
      serviceUrl: database.serviceUrl,
      organisations: Math.ceil(count / 4),
    });
    const lists = await listLatency(sized(small, few), sized(large, many), issuer);
    console.error("measuring 1 of 2: create …");
    return [...(await createThroughput(large, issuer)), ...lists];
  } finally {
    await issuer.stop();
    await cluster.stop();
    await rm(directory, { recursive: true, force: true });
  }
}
