import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readArguments } from "@ehr-marketplace/dev/command-line";
import { startCluster } from "@ehr-marketplace/dev/postgres";
import { usage } from "../command-usage.ts";
import { type Figure, measureFigures } from "../figures.ts";
import { consoleSize } from "./console-size.ts";
import { requireLighthouse, runLighthouse } from "./lighthouse.ts";
import { lighthouseFigures, sizeFigures } from "./lighthouse-figures.ts";
import { pageCpu } from "./page-cpu.ts";
import { requestLatency } from "./request-latency.ts";
import { startStorefrontServers } from "./storefront-servers.ts";

const pages = { home: "/", results: "/apps", "app page": "/apps/northwind-scribe" };

/** Runs on a throwaway cluster with PostgreSQL's default settings, and the demo catalog. */
export async function webBench(options: string[]): Promise<Figure[]> {
  const { values } = readArguments(usage, {
    args: options,
    options: {
      figures: { type: "string", default: "1,2" },
      seconds: { type: "string", default: "40" },
      requests: { type: "string", default: "10000" },
      "lighthouse-runs": { type: "string", default: "3" },
      profiles: { type: "string" },
    },
  });
  // Before the first measurement, which takes minutes.
  if (values.figures.split(",").includes("2")) await requireLighthouse();
  const clusterDirectory = await mkdtemp(join(tmpdir(), "ehr-marketplace-bench-"));
  const cluster = await startCluster({ directory: clusterDirectory, throwaway: true });
  const directory = await mkdtemp(join(tmpdir(), "ehr-marketplace-bench-web-"));
  try {
    const servers = await startStorefrontServers({ clusterUrl: cluster.url, directory, profiles: values.profiles });
    const { web } = servers;
    try {
      return await measureFigures(values.figures, {
        1: async () => [
          ...(await pageCpu(servers, Number(values.requests))),
          ...(await requestLatency(servers, Number(values.seconds))),
        ],
        2: async () => {
          const figures: Figure[] = [];
          for (const [name, path] of Object.entries(pages)) {
            const url = `${web.url}${path}`;
            const reports = await runLighthouse(url, { runs: Number(values["lighthouse-runs"]), directory });
            figures.push(...lighthouseFigures(name, reports));
            for (const report of reports.slice(0, 1)) figures.push(...(await sizeFigures(name, report)));
          }
          return [...figures, ...(await consoleSize(web.url))];
        },
      });
    } finally {
      await servers.stop();
    }
  } finally {
    await cluster.stop();
    for (const each of [clusterDirectory, directory]) await rm(each, { recursive: true, force: true });
  }
}
