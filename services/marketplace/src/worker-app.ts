import { listen } from "@ehr-marketplace/service-kit/database";
import { createServer, readinessOf } from "@ehr-marketplace/service-kit/http";
import { type App, layFoundation } from "@ehr-marketplace/service-kit/process";
import { createSeal } from "@ehr-marketplace/service-kit/secrets";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { DB } from "./database-schema.ts";
import { migrationsDirectory } from "./migrate-database.ts";
import { recoveries } from "./queue/queues.ts";
import { tendByTheClock } from "./webhooks/delivery/chores.ts";
import { startDelivering } from "./webhooks/delivery/deliver.ts";
import { createDeliveryMetrics } from "./webhooks/delivery/delivery-metrics.ts";
import { recoverRecipient } from "./webhooks/delivery/recover.ts";
import { createSender } from "./webhooks/delivery/send/sender.ts";
import { readBacklog } from "./webhooks/delivery/sweep.ts";
import { watchHealth } from "./webhooks/health/health-metrics.ts";
import { runDueReplays } from "./webhooks/replays/replay-step.ts";
import type { WorkerConfig } from "./worker-config.ts";

const service = "marketplace-worker";
const lookEveryMs = 1_000;
const mostRecoveries = 50;

/** Wires the process that delivers. Any number of them may run. */
export async function createWorker(config: WorkerConfig, logger: Logger): Promise<App> {
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
    limits: { bodyBytes: 1_024, urlBytes: 2_048, requestMs: 10_000, eventLoopDelayMs: 60_000 },
    problems: [],
    access: {
      verify: () => Promise.reject(new Error("nothing here asks for a token")),
      requestsPerMinute: 1,
      refusedTokensPerMinute: 1,
    },
    readiness: readinessOf({ database, queue, migrationsDirectory, logger }),
  });

  const sender = createSender();
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

  let tending = false;
  let recovering: Promise<void> | undefined;
  const recover = async (): Promise<void> => {
    const boss = await queue.boss();
    if (!tending) {
      await tendByTheClock(boss, { ...common, metrics: deliveryMetrics, logDays: config.logDays });
      tending = true;
    }
    await runDueReplays(common);
    const jobs = await boss.fetch<{ pace?: number }>(recoveries, { batchSize: mostRecoveries });
    for (const { id, retryCount, data } of jobs) await recoverRecipient(common, { id, retryCount }, data?.pace);
  };
  const timer = setInterval(() => {
    deliverer.wake();
    recovering ??= recover()
      .catch((error: unknown) => logger.warn({ err: error }, "recipients can't be looked after; trying again"))
      .finally(() => {
        recovering = undefined;
      });
  }, lookEveryMs);

  return {
    server,
    async stop() {
      clearInterval(timer);
      await listener.stop();
      await recovering;
      await deliverer.stop();
      await sender.close();
      await foundation.stop();
    },
  };
}
