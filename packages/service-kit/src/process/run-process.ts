import type { FastifyInstance } from "fastify";
import { ConfigurationError } from "../config/read-environment.ts";
import { serve } from "../http/serve.ts";
import { createLogger, type Logger } from "../telemetry/logger.ts";

/** A process whose dependencies are created and that doesn't listen yet. */
export interface App {
  server: FastifyInstance;
  stop(): Promise<void>;
}

interface ListenConfig {
  host: string;
  port: number;
  logLevel: Parameters<typeof createLogger>[0]["level"];
}

/**
 * Reads the configuration, creates the app and serves it until shutdown. Configuration errors are printed without a stack trace.
 * `portVariable` is the variable that sets the port.
 */
export async function runProcess<Config extends ListenConfig>(
  service: string,
  portVariable: string,
  readConfig: (environment: NodeJS.ProcessEnv) => Config,
  createApp: (config: Config, logger: Logger) => Promise<App>,
): Promise<void> {
  try {
    const config = readConfig(process.env);
    const logger = createLogger({ service, level: config.logLevel });
    const app = await createApp(config, logger);
    const { host, port } = config;
    await serve(app.server, { host, port, logger, stop: () => app.stop() }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EADDRINUSE") throw error;
      throw new ConfigurationError(
        `${portVariable}: another process listens on port ${port} of ${host}. Stop it, or set ${portVariable} to another port.`,
      );
    });
  } catch (error) {
    console.error(error instanceof ConfigurationError ? error.message : error);
    process.exitCode = 1;
  }
}
