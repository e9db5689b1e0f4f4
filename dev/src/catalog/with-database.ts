import type { rankCatalog } from "@ehr-marketplace/marketplace/rank-catalog";
import { layFoundation } from "@ehr-marketplace/service-kit/process";
import { createLogger, type Logger } from "@ehr-marketplace/service-kit/telemetry";

type MarketplaceDatabase = Parameters<typeof rankCatalog>[0];

/** The marketplace's database as its own code uses it. */
export async function withDatabase<T>(
  url: string,
  work: (database: MarketplaceDatabase, logger: Logger) => Promise<T>,
): Promise<T> {
  const logger = createLogger({ service: "dev", level: "silent" });
  const foundation = await layFoundation({
    service: "dev",
    database: { url, poolSize: 1, statementTimeoutMs: 60_000 },
    tracesEndpoint: undefined,
    logger,
    tendsJobs: false,
  });
  try {
    return await work(foundation.database.query, logger);
  } finally {
    await foundation.stop();
  }
}
