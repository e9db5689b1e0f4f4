import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readArguments } from "@ehr-marketplace/dev/command-line";
import { startIdentityProvider } from "@ehr-marketplace/dev/identity-provider";
import { startCluster } from "@ehr-marketplace/dev/postgres";
import { usage } from "../command-usage.ts";
import { type Figure, measureFigures } from "../figures.ts";
import { catalogUnderPublication } from "./catalog-under-publication.ts";
import { checkLatency } from "./check-latency.ts";
import { importThroughput } from "./import-throughput.ts";
import { suspensionThroughput } from "./suspension-throughput.ts";

/** Runs on a throwaway cluster with PostgreSQL's default settings and an identity provider; every token is verified. */
export async function publishingBench(options: string[]): Promise<Figure[]> {
  const { values } = readArguments(usage, {
    args: options,
    options: {
      figures: { type: "string", default: "1,2,3,4" },
      apps: { type: "string", default: "100000" },
      organisations: { type: "string", default: "250000" },
      subscriptions: { type: "string", default: "250000" },
    },
  });
  const directory = await mkdtemp(join(tmpdir(), "ehr-marketplace-bench-"));
  const cluster = await startCluster({ directory, throwaway: true });
  const issuer = await startIdentityProvider({ port: 0 });
  try {
    const measures: Record<string, () => Promise<Figure[]>> = {
      1: () => checkLatency(cluster.url, issuer, join(directory, "media")),
      2: () =>
        catalogUnderPublication(cluster.url, issuer, {
          apps: Number(values.apps),
          mediaDirectory: join(directory, "media"),
        }),
      3: () => importThroughput(cluster.url, issuer, Number(values.organisations)),
      4: () =>
        suspensionThroughput(cluster.url, issuer, {
          count: Number(values.subscriptions),
          mediaDirectory: join(directory, "media"),
        }),
    };
    return await measureFigures(values.figures, measures);
  } finally {
    await issuer.stop();
    await cluster.stop();
    await rm(directory, { recursive: true, force: true });
  }
}
