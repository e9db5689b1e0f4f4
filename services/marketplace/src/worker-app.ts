import { listen } from "@ehr-marketplace/service-kit/database";
import { createServer, readinessOf } from "@ehr-marketplace/service-kit/http";
import { type App, layFoundation } from "@ehr-marketplace/service-kit/process";
import { again } from "@ehr-marketplace/service-kit/queue";
import { createKeyedDigest, createSeal } from "@ehr-marketplace/service-kit/secrets";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import { rankCatalog } from "./catalog/rank-catalog.ts";
import type { DB } from "./database-schema.ts";
import { migrationsDirectory } from "./migrate-database.ts";
import { startTending } from "./webhooks/delivery/chores.ts";
import { startDelivering } from "./webhooks/delivery/deliver.ts";
import { createDeliveryMetrics } from "./webhooks/delivery/delivery-metrics.ts";
import { recoverDue } from "./webhooks/delivery/recover-due.ts";
import { createSender, type Sender } from "./webhooks/delivery/send/sender.ts";
import { readBacklog } from "./webhooks/delivery/sweep.ts";
import { watchHealth } from "./webhooks/health/health-metrics.ts";
import { runDueReplays } from "./webhooks/replays/replay-step.ts";
import type { WorkerConfig } from "./worker-config.ts";

const service = "marketplace-worker";
const lookEveryMs = 1_000;

/** Wires the process that delivers. Any number of them may run. */
export async function createWorker(
  config: WorkerConfig,
  logger: Logger,
  sender: Sender = createSender(),
): Promise<App> {
  const foundation = await layFoundation<DB>({ ...config, service, logger, tendsJobs: true });
  const { metrics, tracing, database, queue } = foundation;
  const clock = (): Date => new Date();
  const deliveryMetrics = createDeliveryMetrics(metrics.registry, () => readBacklog(database.query));

  watchHealth(metrics.registry, database.query, clock);
  const server = await createServer({
    logger,
    metrics,
    tracing,
    metricsToken: config.metricsToken,
    trustedProxies: [],
    limits: { urlBytes: 2_048, requestMs: 10_000, eventLoopDelayMs: 60_000 },
    problems: [],
    access: {
      tokens: {
        findVerified: () => undefined,
        verify: () => Promise.reject(new Error("nothing here asks for a token")),
      },
      requestsPerMinute: 1,
      refusedTokensPerMinute: 1,
    },
    logHash: createKeyedDigest(config.encryptionKeys, "log-hash").create,
    readiness: readinessOf({ database, queue, migrationsDirectory, logger }),
  });

  const common = { database: database.query, queue, clock };
  const deliverer = startDelivering({
    ...common,
    random: Math.random,
    seal: createSeal(config.encryptionKeys),
    sender,
    vendorNetworks: config.vendorNetworks,
    mostInFlight: config.mostInFlight,
    mostPerRecipient: config.mostPerRecipient,
    logger,
    metrics: deliveryMetrics,
  });
  const listener = listen({
    url: config.database.url,
    service,
    channel: "deliveries_queued",
    onNotification: () => deliverer.wake(),
    onConnected: () => deliverer.wake(),
    logger,
  });

  const stopping = new AbortController();
  const { signal: stopped } = stopping;
  const regularly = (problem: string, work: () => Promise<void>): Promise<void> =>
    again({ work, problem, pauseMs: lookEveryMs, logger, stopped });
  // Each by itself: none waits for another, or for its troubles.
  const tasks = [
    regularly("recipients can't be looked after", () => recoverDue({ ...common, logger, stopped })),
    regularly("replays can't go on", () => runDueReplays(common)),
    startTending({
      ...common,
      logger,
      metrics: deliveryMetrics,
      logDays: config.logDays,
      jobs: {
        "rank-catalog": { cron: "37 * * * *", work: () => rankCatalog(database.query, { logger, stopped }) },
      },
      stopped,
    }),
  ];
  const timer = setInterval(() => deliverer.wake(), lookEveryMs);

  return {
    server,
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await listener.stop();
      await Promise.all(tasks);
      await deliverer.stop();
      await sender.close();
      await foundation.stop();
    },
  };
}
