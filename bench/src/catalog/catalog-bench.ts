import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readArguments } from "@ehr-marketplace/dev/command-line";
import { loadWithProgress } from "@ehr-marketplace/dev/plausible-apps";
import { prepareMarketplaceDatabase, startCluster } from "@ehr-marketplace/dev/postgres";
import { withClient } from "@ehr-marketplace/test-kit";
import { usage } from "../command-usage.ts";
import type { Figure } from "../figures.ts";
import { startApi } from "../servers.ts";
import { warmCpu } from "../warm-cpu.ts";
import { coldThroughput } from "./cold-throughput.ts";
import { pageLatency } from "./page-latency.ts";
import { searchLatency } from "./search-latency.ts";

/** Runs on a throwaway cluster with PostgreSQL's default settings. */
export async function catalogBench(options: string[]): Promise<Figure[]> {
  const { values } = readArguments(usage, {
    args: options,
    options: { apps: { type: "string", default: "100000" } },
  });
  const apps = Number(values.apps);
  const directory = await mkdtemp(join(tmpdir(), "ehr-marketplace-bench-"));
  const cluster = await startCluster({ directory, throwaway: true });
  try {
    const small = await prepareMarketplaceDatabase(cluster.url, "bench_small");
    await loadWithProgress(small.ownerUrl, { count: 1_000, seed: 1 });
    const large = await prepareMarketplaceDatabase(cluster.url, "bench_large");
    await loadWithProgress(large.ownerUrl, { count: apps, seed: 1 });

    const slug = await findPopularSlug(large.serviceUrl);
    const paths = { "GET /apps/{slug}": `/apps/${slug}`, "GET /apps": "/apps", "GET /apps/featured": "/apps/featured" };
    const figures: Figure[] = [];
    for (const [what, measure] of [
      ["1 of 4: warm CPU per request", () => warmCatalog(large.serviceUrl, paths)],
      ["2 of 4: cache off, per second", () => coldThroughput(large.serviceUrl, paths)],
      ["3 of 4: search", () => searchLatency(large.serviceUrl, small.serviceUrl, apps)],
      ["4 of 4: pages", () => pageLatency(large.serviceUrl, apps)],
    ] as const) {
      console.error(`measuring ${what} …`);
      figures.push(...(await measure()));
    }
    return figures;
  } finally {
    await cluster.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

async function warmCatalog(serviceUrl: string, paths: Record<string, string>): Promise<Figure[]> {
  const api = await startApi(serviceUrl);
  const figures = await warmCpu(api, { paths });
  await api.stop();
  return figures;
}

async function findPopularSlug(url: string): Promise<string> {
  const { rows } = await withClient(url, (client) =>
    client.query<{ slug: string }>(
      "select slug from app_listings join app_popularity using (app_id) order by app_popularity.popularity desc limit 1",
    ),
  );
  return rows[0]?.slug ?? "";
}
