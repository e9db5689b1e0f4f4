import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type MarketplaceDatabase, prepareMarketplaceDatabase } from "../postgres/marketplace-database.ts";
import { startCluster } from "../postgres/start-cluster.ts";

export async function withThrowawayDatabase<T>(work: (urls: MarketplaceDatabase) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), "ehr-marketplace-"));
  const cluster = await startCluster({ directory, throwaway: true, settings: { fsync: "off" } });
  try {
    return await work(await prepareMarketplaceDatabase(cluster.url, "marketplace"));
  } finally {
    await cluster.stop();
  }
}
