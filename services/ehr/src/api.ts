import { ConfigurationError } from "@ehr-marketplace/service-kit/config";
import { serve } from "@ehr-marketplace/service-kit/http";
import { createLogger } from "@ehr-marketplace/service-kit/telemetry";
import { createApp } from "./app.ts";
import { readConfig } from "./config.ts";

try {
  const config = readConfig(process.env);
  const logger = createLogger({ service: "ehr-api", level: config.logLevel });
  const app = await createApp(config, logger);
  await serve(app.server, { host: config.host, port: config.port, logger, stop: () => app.stop() });
} catch (error) {
  console.error(error instanceof ConfigurationError ? error.message : error);
  process.exitCode = 1;
}
