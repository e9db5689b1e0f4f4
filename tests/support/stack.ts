import { startDemoApp } from "@ehr-marketplace/dev/demo-app";
import { freePorts } from "@ehr-marketplace/dev/free-port";
import { startIdentityProvider } from "@ehr-marketplace/dev/identity-provider";
import { ehrService, marketplaceService, webService, workerService } from "@ehr-marketplace/dev/stack";
import { createApp as createEhr } from "@ehr-marketplace/ehr/app";
import { readConfig as readEhrConfig } from "@ehr-marketplace/ehr/config";
import { createApp as createMarketplace } from "@ehr-marketplace/marketplace/app";
import { readConfig as readMarketplaceConfig } from "@ehr-marketplace/marketplace/config";
import { createWorker } from "@ehr-marketplace/marketplace/worker-app";
import { readWorkerConfig } from "@ehr-marketplace/marketplace/worker-config";
import type { App } from "@ehr-marketplace/service-kit/process";
import { createLogger, type Logger } from "@ehr-marketplace/service-kit/telemetry";
import { type CleanUp, cloneDatabase, getSharedPart, keepLog } from "@ehr-marketplace/test-kit";
import { createApp as createWeb } from "@ehr-marketplace/web/app";
import { readConfig as readWebConfig } from "@ehr-marketplace/web/config";
import { inProcessEnvironment } from "./in-process.ts";
import { moveDemoUrls } from "./move-demo-urls.ts";

export interface Stack {
  webUrl: string;
  marketplaceUrl: string;
  ehrUrl: string;
  demoAppUrl: string;
  workerUrl: string;
  issuer: string;
  /** Everything that the stack has printed so far. */
  output(): string;
}

/**
 * Starts what `npm run dev` starts, in this process: the web, the marketplace with its worker, the EHR, an identity provider and the demo
 * app, with the data of a local stack.
 */
export async function startStack(cleanUp: CleanUp, environment: Record<string, string> = {}): Promise<Stack> {
  const [web = 0, marketplace = 0, ehr = 0, idp = 0, demoApp = 0, workerHealth = 0] = await freePorts(6);
  const inspect = { marketplace: 0, worker: 0, ehr: 0, web: 0 };
  const ports = { web, marketplace, ehr, idp, demoApp, workerHealth, inspect };
  const urlOf = (port: number): string => `http://127.0.0.1:${port}`;
  const urls = {
    webUrl: urlOf(web),
    marketplaceUrl: urlOf(marketplace),
    ehrUrl: urlOf(ehr),
    demoAppUrl: urlOf(demoApp),
    workerUrl: urlOf(workerHealth),
  };
  const databases = {
    marketplace: await cloneDatabase(cleanUp, "stack"),
    ehr: await cloneDatabase(cleanUp, "ehr"),
    web: await cloneDatabase(cleanUp, "web"),
  };
  await moveDemoUrls(databases.marketplace.ownerUrl, { ...urls, publicUrl: urls.marketplaceUrl });
  await getSharedPart("pages");
  const identityProvider = await startIdentityProvider({ ...urls, port: idp });
  cleanUp(() => identityProvider.stop());
  const { issuer } = identityProvider;
  const demo = await startDemoApp(demoApp, { issuer, marketplaceUrl: urls.marketplaceUrl });
  cleanUp(() => demo.stop());

  let output = "";
  const log = keepLog("the stack");
  const write = (line: string): void => {
    output += line;
    log(line);
  };
  const context = { ports, databases, identityProvider, mediaDirectory: process.env["MEDIA_DIRECTORY"] ?? "" };
  const environmentOf = (service: { environment: Record<string, string> }): Record<string, string> => ({
    ...service.environment,
    ...inProcessEnvironment,
    CATALOG_TIMEOUT_MS: "60000",
    ...environment,
  });
  const start = async (port: number, create: (logger: Logger) => Promise<App>): Promise<void> => {
    const app = await create(createLogger({ service: "stack", level: "info" }, { write }));
    cleanUp(async () => {
      await app.server.close();
      await app.stop();
    });
    await app.server.listen({ host: "127.0.0.1", port });
  };
  const marketplaceConfig = readMarketplaceConfig(environmentOf(marketplaceService(context)));
  await start(marketplace, (logger) => createMarketplace(marketplaceConfig, logger));
  const workerConfig = readWorkerConfig(environmentOf(workerService(context)));
  await start(workerHealth, (logger) => createWorker(workerConfig, logger));
  const ehrConfig = readEhrConfig(environmentOf(ehrService(context)));
  await start(ehr, (logger) => createEhr(ehrConfig, logger));
  const webConfig = readWebConfig(environmentOf(webService(context)));
  await start(web, (logger) => createWeb(webConfig, logger));
  return { ...urls, issuer, output: () => output };
}
