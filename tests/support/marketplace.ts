import { marketplaceEnvironment } from "@ehr-marketplace/dev/service-environments";
import type { createApp as createMarketplace } from "@ehr-marketplace/marketplace/app";
import type { CleanUp } from "@ehr-marketplace/test-kit";
import type { FastifyInstance } from "fastify";
import { inProcessEnvironment, startInProcess } from "./in-process.ts";

export interface RunningMarketplace {
  url: string;
  server: FastifyInstance;
  /** Sends a GET request to a path below the API's base path. */
  get(path: string, headers?: Record<string, string>): Promise<Response>;
}

function addressOf(hostname: string): string {
  if (hostname === "localhost") return "127.0.0.1";
  return hostname.endsWith(".internal") ? "10.0.0.1" : "1.1.1.1";
}

/** Every name has an address, so that registrations have no warnings, whatever the machine's name server knows. */
const everyName: Parameters<typeof createMarketplace>[2] = {
  resolve: async (hostname) => [{ address: addressOf(hostname), family: 4 }],
  close: () => undefined,
};

/** Starts the API in this process. For it, every name has an address unless a resolver is given. */
export async function startMarketplace(
  cleanUp: CleanUp,
  databaseUrl: string,
  environment: Record<string, string> = {},
  resolver = everyName,
): Promise<RunningMarketplace> {
  const { createApp } = await import("@ehr-marketplace/marketplace/app");
  const { readConfig } = await import("@ehr-marketplace/marketplace/config");
  const config = readConfig({
    ...marketplaceEnvironment(databaseUrl),
    ...inProcessEnvironment,
    ...environment,
  });
  const { url, server } = await startInProcess(cleanUp, (logger) => createApp(config, logger, resolver));
  return { url, server, get: (path, headers = {}) => fetch(`${url}/api/v1${path}`, { headers }) };
}
