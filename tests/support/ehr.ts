import { ehrEnvironment } from "@ehr-marketplace/dev/service-environments";
import { createApp } from "@ehr-marketplace/ehr/app";
import { readConfig } from "@ehr-marketplace/ehr/config";
import { createLogger } from "@ehr-marketplace/service-kit/telemetry";
import type { FastifyInstance } from "fastify";
import type { CleanUp } from "./clean-up.ts";

export interface RunningEhr {
  url: string;
  server: FastifyInstance;
}

const nowhere = { marketplaceUrl: "http://127.0.0.1:9", fhirBaseUrl: "https://fhir.example/{orgAlias}" };

/** The EHR's API in this process, on a port of its own, with nothing replaced. */
export async function startEhr(
  cleanUp: CleanUp,
  databaseUrl: string,
  environment: Record<string, string> = {},
): Promise<RunningEhr> {
  const config = readConfig({
    ...ehrEnvironment(databaseUrl, nowhere),
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
  return { url, server: app.server };
}
