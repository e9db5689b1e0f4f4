import { connectDatabase, type Database, type DatabaseOptions } from "../database/connect.ts";
import { type Queue, startQueue } from "../queue/queue.ts";
import type { Logger } from "../telemetry/logger.ts";
import { createMetrics, type Metrics } from "../telemetry/metrics.ts";
import { startTracing, type Tracing } from "../telemetry/tracing.ts";

export interface ServiceContext<Schema> {
  metrics: Metrics;
  tracing: Tracing;
  database: Database<Schema>;
  queue: Queue;
  /** Call it after everything that uses the context has stopped. */
  stop(): Promise<void>;
}

/** Creates the infrastructure that every process uses: metrics, tracing, database and queue. */
export async function createServiceContext<Schema>(options: {
  service: string;
  database: Omit<DatabaseOptions, "service" | "logger" | "tracing">;
  tracesEndpoint: string | undefined;
  logger: Logger;
  supervisesJobs: boolean;
}): Promise<ServiceContext<Schema>> {
  const { service, logger, supervisesJobs } = options;
  const metrics = createMetrics(service);
  const tracing = await startTracing(service, options.tracesEndpoint);
  const database = connectDatabase<Schema>({ ...options.database, service, logger, tracing });
  metrics.watchPool(database.pool);
  // Started before the process listens, so that the first requests find the queue running.
  const queue = await startQueue({ ...options.database, service: `${service} queue`, logger, supervisesJobs });
  return {
    metrics,
    tracing,
    database,
    queue,
    async stop() {
      await queue.stop();
      // Kysely would end the pool only if it had executed a query itself.
      await database.pool.end();
      await tracing.stop();
    },
  };
}
