import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadDemoData } from "@ehr-marketplace/dev/demo-data";
import { prepareMarketplaceDatabase, startCluster } from "@ehr-marketplace/dev/postgres";
import { type CleanUp } from "@ehr-marketplace/test-kit";
import { demoSettings } from "@ehr-marketplace/tests/support";

export interface CrashableCluster {
  ownerUrl: string;
  serviceUrl: string;
  crash(): Promise<void>;
  /** Starts PostgreSQL on the same port. */
  restart(): Promise<void>;
}

/** Starts a separate PostgreSQL with the demo catalog, which a test can crash and restart. */
export async function startCrashableCluster(cleanUp: CleanUp): Promise<CrashableCluster> {
  const directory = await mkdtemp(join(tmpdir(), "ehr-marketplace-fault-"));
  const options = { directory, throwaway: false, settings: { fsync: "off" } };
  let cluster = await startCluster(options);
  cleanUp(async () => {
    await cluster.stop();
    await rm(directory, { recursive: true });
  });
  const { ownerUrl, serviceUrl } = await prepareMarketplaceDatabase(cluster.url, "marketplace");
  await loadDemoData(ownerUrl, demoSettings);
  return {
    ownerUrl,
    serviceUrl,
    crash: () => cluster.crash(),
    async restart() {
      cluster = await startCluster({ ...options, port: cluster.port });
    },
  };
}
