import { createApp as createEhr } from "@ehr-marketplace/ehr/app";
import { readConfig as readEhrConfig } from "@ehr-marketplace/ehr/config";
import { createApp as createMarketplace } from "@ehr-marketplace/marketplace/app";
import { readConfig as readMarketplaceConfig } from "@ehr-marketplace/marketplace/config";
import { createLogger } from "@ehr-marketplace/service-kit/telemetry";
import type { ServiceDatabase } from "@ehr-marketplace/test-kit";
import { createApp as createWeb } from "@ehr-marketplace/web/app";
import { readConfig as readWebConfig } from "@ehr-marketplace/web/config";
import type { FastifyInstance } from "fastify";
import { prepareEhrDatabase } from "../postgres/ehr-database.ts";
import { prepareMarketplaceDatabase } from "../postgres/marketplace-database.ts";
import { prepareWebDatabase } from "../postgres/web-database.ts";
import { ehrEnvironment, marketplaceEnvironment, webEnvironment } from "../service-environments.ts";

export interface GeneratedService {
  prepareDatabase(clusterUrl: string, name: string): Promise<ServiceDatabase>;
  /** Undefined: it has pages, and no API of its own. */
  documentPath: string | undefined;
  createApp(databaseUrl: string): Promise<{ server: FastifyInstance; stop(): Promise<void> }>;
}

const quiet = { NODE_ENV: "test", LOG_LEVEL: "silent" };
const logger = createLogger({ service: "generate", level: "silent" });
const unreachable = "http://127.0.0.1:9";
const unreachableUrls = { marketplaceUrl: unreachable, fhirBaseUrl: unreachable };
const unreachableServices = { publicUrl: unreachable, marketplaceUrl: unreachable, ehrUrl: unreachable };

export const services: Record<string, GeneratedService> = {
  marketplace: {
    prepareDatabase: prepareMarketplaceDatabase,
    documentPath: "/api/v1/openapi.json",
    createApp: (url) => createMarketplace(readMarketplaceConfig({ ...marketplaceEnvironment(url), ...quiet }), logger),
  },
  ehr: {
    prepareDatabase: prepareEhrDatabase,
    documentPath: "/api/openapi.json",
    createApp: (url) => createEhr(readEhrConfig({ ...ehrEnvironment(url, unreachableUrls), ...quiet }), logger),
  },
  web: {
    prepareDatabase: prepareWebDatabase,
    documentPath: undefined,
    async createApp(url) {
      const { buildPages } = await import("@ehr-marketplace/web/build");
      await buildPages();
      return createWeb(readWebConfig({ ...webEnvironment(url, unreachableServices), ...quiet }), logger);
    },
  },
};
