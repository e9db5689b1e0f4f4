import { connectDatabase, type Database, type DatabaseOptions } from "../database/connect.ts";
import { type Queue, startQueue } from "../queue/queue.ts";
import type { Logger } from "../telemetry/logger.ts";
import { createMetrics, type Metrics } from "../telemetry/metrics.ts";
import { startTracing, type Tracing } from "../telemetry/tracing.ts";

export interface Foundation<Schema> {
  metrics: Metrics;
  tracing: Tracing;
  database: Database<Schema>;
  queue: Queue;
  /** After all that stands on it. */
  stop(): Promise<void>;
}

/** What every process of ours stands on. */
export async function layFoundation<Schema>(options: {
  service: string;
  database: Omit<DatabaseOptions, "service" | "logger" | "tracing">;
  tracesEndpoint: string | undefined;
  logger: Logger;
  tendsJobs: boolean;
}): Promise<Foundation<Schema>> {
  const { service, logger, tendsJobs } = options;
  const metrics = createMetrics(service);
  const tracing = await startTracing(service, options.tracesEndpoint);
  const database = connectDatabase<Schema>({ ...options.database, service, logger, tracing });
  metrics.watchPool(database.pool);
  // Before the process listens: a request that needs the queue finds it running.
  const queue = await startQueue({ ...options.database, service: `${service} queue`, logger, tendsJobs });
  return {
    metrics,
    tracing,
    database,
    queue,
    async stop() {
      await queue.stop();
      await database.query.destroy();
      await tracing.stop();
    },
  };
}
