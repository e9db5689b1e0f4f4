import { connectDatabase, listen, pendingMigrations } from "@ehr-marketplace/service-kit/database";
import { AnswerCache, apiReference, createServer } from "@ehr-marketplace/service-kit/http";
import { createMetrics, type Logger, startTracing } from "@ehr-marketplace/service-kit/telemetry";
import type { FastifyInstance } from "fastify";
import { apiDescription, basePath } from "./api-description.ts";
import { catalogProblems } from "./catalog/catalog-errors.ts";
import { catalogRoutes } from "./catalog/catalog-routes.ts";
import type { Config } from "./config.ts";
import type { DB } from "./database-schema.ts";
import { mediaRoutes } from "./media-routes.ts";

const service = "marketplace-api";

export interface App {
  server: FastifyInstance;
  stop(): Promise<void>;
}

/** Wires the process: everything it needs, and nothing that decides anything. */
export async function createApp(config: Config, logger: Logger): Promise<App> {
  const metrics = createMetrics(service);
  const tracing = await startTracing(service, config.tracesEndpoint);
  const database = connectDatabase<DB>({ ...config.database, service, logger, tracing });
  metrics.watchPool(database.pool);
  const pending = pendingMigrations(new URL("../migrations", import.meta.url).pathname);

  const server = await createServer({
    logger,
    metrics,
    tracing,
    metricsToken: config.metricsToken,
    trustedProxies: config.trustedProxies,
    limits: config.limits,
    problems: Object.values(catalogProblems),
    readiness: async () => {
      try {
        const missing = await pending(database.query);
        return missing.length === 0 ? undefined : `the schema lacks ${missing.join(", ")}; run the migration step`;
      } catch (error) {
        logger.warn({ err: error }, "not ready");
        return "the database can't be reached";
      }
    },
  });

  const answers = new AnswerCache(config.catalogCache);
  const listener = listen({
    url: config.database.url,
    service,
    channel: "catalog_changed",
    onNotification: () => answers.dropAll(),
    onConnected: () => answers.dropAll(),
    logger,
  });

  await apiReference(server, apiDescription);
  await server.register(catalogRoutes, {
    prefix: basePath,
    database: database.query,
    answers,
    requestsPerMinute: config.publicRequestsPerMinute,
  });
  if (config.mediaDirectory !== undefined) {
    await server.register(mediaRoutes, { prefix: "/media", directory: config.mediaDirectory });
  }

  return {
    server,
    async stop() {
      await listener.stop();
      await database.query.destroy();
      await tracing.stop();
    },
  };
}
