import type { rankCatalog } from "@ehr-marketplace/marketplace/rank-catalog";
import { createServiceContext } from "@ehr-marketplace/service-kit/process";
import { createLogger, type Logger } from "@ehr-marketplace/service-kit/telemetry";

type MarketplaceDatabase = Parameters<typeof rankCatalog>[0];

/** Connects to the marketplace's database as the marketplace does, and disconnects afterwards. */
export async function withDatabase<T>(
  url: string,
  work: (database: MarketplaceDatabase, logger: Logger) => Promise<T>,
): Promise<T> {
  const logger = createLogger({ service: "dev", level: "silent" });
  const context = await createServiceContext({
    service: "dev",
    database: { url, poolSize: 1, statementTimeoutMs: 60_000 },
    tracesEndpoint: undefined,
    logger,
    supervisesJobs: false,
  });
  try {
    return await work(context.database.query, logger);
  } finally {
    await context.stop();
  }
}
