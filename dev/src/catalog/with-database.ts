import type { ReviewDeps } from "@ehr-marketplace/marketplace/publishing";
import { createServiceContext } from "@ehr-marketplace/service-kit/process";
import { createLogger, type Logger } from "@ehr-marketplace/service-kit/telemetry";

type MarketplaceDatabase = ReviewDeps["database"];

/** Connects to the marketplace's database as the marketplace does, and disconnects afterwards. */
export async function withDatabase<T>(
  url: string,
  work: (database: MarketplaceDatabase, context: { logger: Logger; queue: ReviewDeps["queue"] }) => Promise<T>,
): Promise<T> {
  const logger = createLogger({ service: "dev", level: "silent" });
  const context = await createServiceContext({
    service: "dev",
    database: { url, poolSize: 4, statementTimeoutMs: 60_000 },
    tracesEndpoint: undefined,
    logger,
    supervisesJobs: false,
  });
  try {
    return await work(context.database.query, { logger, queue: context.queue });
  } finally {
    await context.stop();
  }
}
