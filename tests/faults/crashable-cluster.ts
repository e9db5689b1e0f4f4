import { startCluster } from "@ehr-marketplace/dev/postgres";
import { type CleanUp, getSharedPart, urlsFor } from "@ehr-marketplace/test-kit";
import { copyData } from "../runner/cluster-images.ts";
import { templates } from "../runner/templates.ts";

export interface CrashableCluster {
  ownerUrl: string;
  serviceUrl: string;
  crash(): Promise<void>;
  /** Starts PostgreSQL on the same port. */
  restart(): Promise<void>;
}

/** Starts a separate PostgreSQL with the demo catalog, which a test can crash and restart. */
export async function startCrashableCluster(cleanUp: CleanUp): Promise<CrashableCluster> {
  const { directory, remove } = await copyData(await getSharedPart("image/newest"));
  const options = { directory, throwaway: false, settings: { fsync: "off" } };
  let cluster = await startCluster(options);
  cleanUp(async () => {
    await cluster.stop();
    await remove();
  });
  const { database, login } = templates.demo;
  return {
    ...urlsFor(cluster.url, database, login),
    crash: () => cluster.crash(),
    async restart() {
      cluster = await startCluster({ ...options, port: cluster.port });
    },
  };
}
