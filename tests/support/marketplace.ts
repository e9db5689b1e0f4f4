import { marketplaceEnvironment } from "@ehr-marketplace/dev/service-environments";
import { createApp } from "@ehr-marketplace/marketplace/app";
import { readConfig } from "@ehr-marketplace/marketplace/config";
import { createLogger } from "@ehr-marketplace/service-kit/telemetry";
import type { FastifyInstance } from "fastify";
import type { CleanUp } from "./clean-up.ts";

export interface RunningMarketplace {
  url: string;
  server: FastifyInstance;
  /** Asks a path below the API's base path. */
  get(path: string, headers?: Record<string, string>): Promise<Response>;
}

/** The API in this process, on a port of its own, with nothing replaced. */
export async function startMarketplace(
  cleanUp: CleanUp,
  databaseUrl: string,
  environment: Record<string, string> = {},
): Promise<RunningMarketplace> {
  const config = readConfig({
    ...marketplaceEnvironment(databaseUrl),
    NODE_ENV: "test",
    CALLER_REQUESTS_PER_MINUTE: "1000000",
    PUBLIC_REQUESTS_PER_MINUTE: "1000000",
    // The tests share this process, and other tests its processor: its lag is theirs.
    MAX_EVENT_LOOP_DELAY_MS: "60000",
    ...environment,
  });
  const app = await createApp(config, createLogger({ service: "test", level: "silent" }));
  const url = await app.server.listen({ host: "127.0.0.1", port: 0 });
  cleanUp(async () => {
    await app.server.close();
    await app.stop();
  });
  return { url, server: app.server, get: (path, headers = {}) => fetch(`${url}/api/v1${path}`, { headers }) };
}
