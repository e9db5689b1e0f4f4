import { join } from "node:path";
import { loadDemoData } from "@ehr-marketplace/dev/demo-data";
import { freePort } from "@ehr-marketplace/dev/free-port";
import { prepareMarketplaceDatabase, prepareWebDatabase } from "@ehr-marketplace/dev/postgres";
import { buildPages } from "@ehr-marketplace/web/build";
import { type BenchServer, startApi, startWeb } from "../servers.ts";

export interface StorefrontServers {
  api: BenchServer;
  web: BenchServer;
  stop(): Promise<void>;
}

export interface StorefrontOptions {
  clusterUrl: string;
  /** For the pictures of the apps. */
  directory: string;
  profiles: string | undefined;
}

/** A response that a busy machine delays is measured, not refused. */
const patient = { MAX_EVENT_LOOP_DELAY_MS: "60000", CATALOG_TIMEOUT_MS: "60000" };

/** Starts the marketplace's API with the demo catalog, and a web that shows it, each as a process of its own. */
export async function startStorefrontServers(options: StorefrontOptions): Promise<StorefrontServers> {
  const { clusterUrl, directory, profiles } = options;
  await buildPages();
  const marketplace = await prepareMarketplaceDatabase(clusterUrl, "bench_storefront");
  const webDatabase = await prepareWebDatabase(clusterUrl, "bench_web");
  const port = await freePort();
  const marketplaceUrl = `http://127.0.0.1:${port}`;
  const mediaDirectory = join(directory, "media");
  const unused = "http://127.0.0.1:9";
  await loadDemoData(marketplace.ownerUrl, {
    publicUrl: marketplaceUrl,
    demoAppUrl: unused,
    mediaDirectory,
    ehrUrl: unused,
  });
  const environment = { PUBLIC_URL: marketplaceUrl, MEDIA_DIRECTORY: mediaDirectory, ...patient };
  const api = await startApi(marketplace.serviceUrl, environment, port);
  const web = await startWeb(webDatabase.serviceUrl, { marketplaceUrl, profiles, environment: patient }).catch(
    async (error: unknown) => {
      await api.stop();
      throw error;
    },
  );
  return {
    api,
    web,
    async stop() {
      await web.stop();
      await api.stop();
    },
  };
}
