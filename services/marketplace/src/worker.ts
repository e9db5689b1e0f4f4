import { ConfigurationError } from "@ehr-marketplace/service-kit/config";
import { serve } from "@ehr-marketplace/service-kit/http";
import { createLogger } from "@ehr-marketplace/service-kit/telemetry";
import { createWorker } from "./worker-app.ts";
import { readWorkerConfig } from "./worker-config.ts";

try {
  const config = readWorkerConfig(process.env);
  const logger = createLogger({ service: "marketplace-worker", level: config.logLevel });
  const worker = await createWorker(config, logger);
  await serve(worker.server, { host: config.host, port: config.port, logger, stop: () => worker.stop() });
} catch (error) {
  console.error(error instanceof ConfigurationError ? error.message : error);
  process.exitCode = 1;
}
