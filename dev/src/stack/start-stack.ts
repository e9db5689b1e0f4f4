import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadDemoData } from "../demo-data/load-demo-data.ts";
import { startIdentityProvider } from "../identity-provider/index.ts";
import { marketplaceEnvironment } from "../marketplace-environment.ts";
import {
  dropDatabase,
  type MarketplaceDatabase,
  prepareMarketplaceDatabase,
} from "../postgres/marketplace-database.ts";
import { startCluster } from "../postgres/start-cluster.ts";
import { startEhrReceiver } from "./ehr-receiver.ts";
import { assertFree, readPorts } from "./ports.ts";
import { startService } from "./service-process.ts";

export interface Stack {
  marketplaceUrl: string;
  issuer: string;
  ehrUrl: string;
  database: MarketplaceDatabase;
  demo: { apps: number; vendors: number };
  stop(): Promise<void>;
}

const root = new URL("../../../", import.meta.url).pathname;

export async function startStack(options: { ephemeral: boolean }, report: (step: string) => void): Promise<Stack> {
  const ports = readPorts();
  await assertFree(ports.marketplace, "MARKETPLACE_PORT");
  await assertFree(ports.ehr, "EHR_PORT");
  await assertFree(ports.idp, "IDP_PORT");
  await assertFree(ports.workerHealth, "IDP_PORT", ports.workerHealth - ports.idp);
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const each of stops.splice(0).toReversed()) await each();
  };

  try {
    const directory = options.ephemeral ? await mkdtemp(join(tmpdir(), "ehr-marketplace-")) : join(root, ".dev");
    if (options.ephemeral) stops.push(() => rm(directory, { recursive: true, force: true }));

    const { DATABASE_URL: givenDatabase } = process.env;
    let clusterUrl = givenDatabase;
    if (clusterUrl === undefined || clusterUrl === "") {
      report("Starting PostgreSQL");
      await mkdir(directory, { recursive: true });
      // As root, PostgreSQL runs as another user, who must be able to get there.
      await chmod(directory, 0o755);
      const postgres = join(directory, "postgres");
      const cluster = await startCluster({ directory: postgres, throwaway: options.ephemeral });
      stops.push(() => cluster.stop());
      clusterUrl = cluster.url;
    }

    report("Migrating the database");
    const name = options.ephemeral && givenDatabase ? `marketplace_${process.pid}` : "marketplace";
    const database = await prepareMarketplaceDatabase(clusterUrl, name);
    if (options.ephemeral) stops.push(() => dropDatabase(clusterUrl, name));

    report("Loading the demo catalog");
    const marketplaceUrl = `http://127.0.0.1:${ports.marketplace}`;
    const mediaDirectory = join(directory, "media");
    const demo = await loadDemoData(database.ownerUrl, {
      publicUrl: process.env["PUBLIC_URL"] ?? marketplaceUrl,
      demoAppUrl: `http://127.0.0.1:${ports.demoApp}`,
      mediaDirectory,
      ehrUrl: `http://127.0.0.1:${ports.ehr}`,
    });

    report("Starting the identity provider and a receiver in place of the EHR");
    const identityProvider = await startIdentityProvider({ port: ports.idp });
    stops.push(() => identityProvider.stop());
    const ehr = await startEhrReceiver(ports.ehr, console.log);
    stops.push(() => ehr.stop());

    report("Starting the marketplace");
    const marketplace = await startService({
      name: "marketplace",
      entry: join(root, "services/marketplace/src/api.ts"),
      readyUrl: `${marketplaceUrl}/health/ready`,
      environment: {
        ...marketplaceEnvironment(database.serviceUrl, identityProvider),
        NODE_ENV: "development",
        HOST: "127.0.0.1",
        MARKETPLACE_PORT: String(ports.marketplace),
        MEDIA_DIRECTORY: mediaDirectory,
        VENDOR_ALLOWED_NETWORKS: "127.0.0.0/8",
      },
    });
    stops.push(() => marketplace.stop());

    report("Starting the worker, which delivers");
    const worker = await startService({
      name: "worker",
      entry: join(root, "services/marketplace/src/worker.ts"),
      readyUrl: `http://127.0.0.1:${ports.workerHealth}/health/ready`,
      environment: {
        ...marketplaceEnvironment(database.serviceUrl, identityProvider),
        NODE_ENV: "development",
        HOST: "127.0.0.1",
        WORKER_PORT: String(ports.workerHealth),
        VENDOR_ALLOWED_NETWORKS: "127.0.0.0/8",
      },
    });
    stops.push(() => worker.stop());
    return { marketplaceUrl, issuer: identityProvider.issuer, ehrUrl: ehr.url, database, demo, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
