import type { FastifyInstance } from "fastify";
import { ConfigurationError } from "../config/read-environment.ts";
import { serve } from "../http/serve.ts";
import { createLogger, type Logger } from "../telemetry/logger.ts";

/** A process that is wired and doesn't listen yet. */
export interface App {
  server: FastifyInstance;
  stop(): Promise<void>;
}

interface Listening {
  host: string;
  port: number;
  logLevel: Parameters<typeof createLogger>[0]["level"];
}

/** A process from its environment to its end. What is wrong with its configuration is told without a stack. */
export async function runProcess<Config extends Listening>(
  service: string,
  readConfig: (environment: NodeJS.ProcessEnv) => Config,
  createApp: (config: Config, logger: Logger) => Promise<App>,
): Promise<void> {
  try {
    const config = readConfig(process.env);
    const logger = createLogger({ service, level: config.logLevel });
    const app = await createApp(config, logger);
    await serve(app.server, { host: config.host, port: config.port, logger, stop: () => app.stop() });
  } catch (error) {
    console.error(error instanceof ConfigurationError ? error.message : error);
    process.exitCode = 1;
  }
}
