import { connectDatabase } from "@ehr-marketplace/service-kit/database";
import { createLogger, startTracing } from "@ehr-marketplace/service-kit/telemetry";
import type { CleanUp } from "@ehr-marketplace/tests/support";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";

/** The service's own way to its database, with the rights that it has. */
export async function databaseAt(cleanUp: CleanUp, url: string): Promise<Kysely<DB>> {
  const { query } = connectDatabase<DB>({
    url,
    service: "test",
    poolSize: 4,
    statementTimeoutMs: 5_000,
    logger: createLogger({ service: "test", level: "silent" }),
    tracing: await startTracing("test", undefined),
  });
  cleanUp(() => query.destroy());
  return query;
}
