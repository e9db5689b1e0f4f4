import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readArguments } from "@ehr-marketplace/dev/command-line";
import { startIdentityProvider } from "@ehr-marketplace/dev/identity-provider";
import { startCluster } from "@ehr-marketplace/dev/postgres";
import { usage } from "../command-usage.ts";
import { type Figure, measureFigures } from "../figures.ts";
import { closeMonth } from "./close-month.ts";
import { monthLatency } from "./month-latency.ts";
import { reportThroughput } from "./report-throughput.ts";

/** Runs on a throwaway cluster with PostgreSQL's default settings and an identity provider; every token is verified. */
export async function usageBench(options: string[]): Promise<Figure[]> {
  const { values } = readArguments(usage, {
    args: options,
    options: {
      figures: { type: "string", default: "1,2,3" },
      records: { type: "string", default: "10000000" },
      subscriptions: { type: "string", default: "1000000" },
    },
  });
  const directory = await mkdtemp(join(tmpdir(), "ehr-marketplace-bench-"));
  const cluster = await startCluster({ directory, throwaway: true });
  const issuer = await startIdentityProvider({ port: 0 });
  const mediaDirectory = join(directory, "media");
  try {
    const measures: Record<string, () => Promise<Figure[]>> = {
      1: () => reportThroughput(cluster.url, issuer, mediaDirectory),
      2: () => monthLatency(cluster.url, issuer, { records: Number(values.records), mediaDirectory }),
      3: () => closeMonth(cluster.url, issuer, { subscriptions: Number(values.subscriptions), mediaDirectory }),
    };
    return await measureFigures(values.figures, measures);
  } finally {
    await issuer.stop();
    await cluster.stop();
    await rm(directory, { recursive: true, force: true });
  }
}
