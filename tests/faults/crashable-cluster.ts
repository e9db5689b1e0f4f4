import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadDemoData } from "@ehr-marketplace/dev/demo-data";
import { prepareMarketplaceDatabase, startCluster } from "@ehr-marketplace/dev/postgres";
import { type CleanUp, demoPlaces } from "@ehr-marketplace/tests/support";

export interface CrashableCluster {
  ownerUrl: string;
  serviceUrl: string;
  crash(): Promise<void>;
  /** On the port that it had. */
  startAgain(): Promise<void>;
}

/** A PostgreSQL of the test's own with the demo catalog, which can be stopped as if the power were gone. */
export async function startCrashableCluster(cleanUp: CleanUp): Promise<CrashableCluster> {
  const directory = await mkdtemp(join(tmpdir(), "ehr-marketplace-fault-"));
  const kept = { directory, throwaway: false, settings: { fsync: "off" } };
  let cluster = await startCluster(kept);
  cleanUp(async () => {
    await cluster.stop();
    await rm(directory, { recursive: true });
  });
  const { ownerUrl, serviceUrl } = await prepareMarketplaceDatabase(cluster.url, "marketplace");
  await loadDemoData(ownerUrl, demoPlaces);
  return {
    ownerUrl,
    serviceUrl,
    crash: () => cluster.crash(),
    async startAgain() {
      cluster = await startCluster({ ...kept, port: cluster.port });
    },
  };
}
