import type { Database } from "@ehr-marketplace/service-kit/database";
import { layFoundation } from "@ehr-marketplace/service-kit/process";
import type { Queue } from "@ehr-marketplace/service-kit/queue";
import { createLogger, type Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { CleanUp } from "./clean-up.ts";

export interface Connected<Schema> {
  database: Database<Schema>["query"];
  prepared: Database<Schema>["prepared"];
  pool: Database<Schema>["pool"];
  queue: Queue;
  clock: () => Date;
  logger: Logger;
}

/** A service's own way to its database and its queue, with the rights that it has, and without a server or workers. */
export async function connectTo<Schema>(
  cleanUp: CleanUp,
  url: string,
  { poolSize = 4, statementTimeoutMs = 10_000 } = {},
): Promise<Connected<Schema>> {
  const logger = createLogger({ service: "test", level: "silent" });
  const foundation = await layFoundation<Schema>({
    service: "test",
    database: { url, poolSize, statementTimeoutMs },
    tracesEndpoint: undefined,
    logger,
    tendsJobs: false,
  });
  cleanUp(() => foundation.stop());
  const { database, queue } = foundation;
  const { query, prepared, pool } = database;
  return { database: query, prepared, pool, queue, clock: () => new Date(), logger };
}
