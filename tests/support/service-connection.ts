import type { Database } from "@ehr-marketplace/service-kit/database";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { CleanUp } from "@ehr-marketplace/test-kit";

export interface ServiceConnection<Schema> {
  database: Database<Schema>["query"];
  pool: Database<Schema>["pool"];
  queue: Queue;
  clock: () => Date;
  logger: Logger;
}

/** Connects to a service's database and queue with the service's role, without a server or workers. */
export async function connectAsService<Schema>(
  cleanUp: CleanUp,
  url: string,
  { poolSize = 4, statementTimeoutMs = 10_000 } = {},
): Promise<ServiceConnection<Schema>> {
  const { createServiceContext } = await import("@ehr-marketplace/service-kit/process");
  const { createLogger } = await import("@ehr-marketplace/service-kit/telemetry");
  const logger = createLogger({ service: "test", level: "silent" });
  const foundation = await createServiceContext<Schema>({
    service: "test",
    database: { url, poolSize, statementTimeoutMs },
    tracesEndpoint: undefined,
    logger,
    supervisesJobs: false,
  });
  cleanUp(() => foundation.stop());
  const { database, queue } = foundation;
  const { query, pool } = database;
  return { database: query, pool, queue, clock: () => new Date(), logger };
}
