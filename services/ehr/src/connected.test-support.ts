import { connectDatabase } from "@ehr-marketplace/service-kit/database";
import { createQueue, type Queue } from "@ehr-marketplace/service-kit/queue";
import { createLogger, type Logger, startTracing } from "@ehr-marketplace/service-kit/telemetry";
import type { CleanUp } from "@ehr-marketplace/tests/support";
import type { Kysely } from "kysely";
import type { DB } from "./database-schema.ts";

export interface Connected {
  database: Kysely<DB>;
  queue: Queue;
  clock: () => Date;
  logger: Logger;
}

/** What use cases need, without a server around them. */
export async function connectTo(cleanUp: CleanUp, url: string, poolSize = 4): Promise<Connected> {
  const logger = createLogger({ service: "test", level: "silent" });
  const tracing = await startTracing("test", undefined);
  const options = { url, service: "test", poolSize, statementTimeoutMs: 30_000, logger, tracing };
  const { query: database, pool } = connectDatabase<DB>(options);
  const queue = createQueue({ pool, logger, tendsJobs: false });
  cleanUp(async () => {
    await queue.stop();
    await database.destroy();
  });
  return { database, queue, clock: () => new Date(), logger };
}
