import { ehrEnvironment } from "@ehr-marketplace/dev/service-environments";
import type { CleanUp } from "@ehr-marketplace/test-kit";
import type { FastifyInstance } from "fastify";
import { inProcessEnvironment, startInProcess } from "./in-process.ts";

export interface RunningEhr {
  url: string;
  server: FastifyInstance;
}

const unreachable = { marketplaceUrl: "http://127.0.0.1:9", fhirBaseUrl: "https://fhir.example/{orgAlias}" };

/** Starts the EHR's API in this process. */
export async function startEhr(
  cleanUp: CleanUp,
  databaseUrl: string,
  environment: Record<string, string> = {},
): Promise<RunningEhr> {
  const { createApp } = await import("@ehr-marketplace/ehr/app");
  const { readConfig } = await import("@ehr-marketplace/ehr/config");
  const config = readConfig({
    ...ehrEnvironment(databaseUrl, unreachable),
    ...inProcessEnvironment,
    ...environment,
  });
  return startInProcess(cleanUp, (logger) => createApp(config, logger));
}
