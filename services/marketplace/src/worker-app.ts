import { createOutboundClient, type OutboundClient } from "@ehr-marketplace/outbound-http";
import { listen } from "@ehr-marketplace/service-kit/database";
import { createReadinessCheck, createServer } from "@ehr-marketplace/service-kit/http";
import { type App, checkAtStart, createServiceContext } from "@ehr-marketplace/service-kit/process";
import { runRepeatedly, startScheduledJobs } from "@ehr-marketplace/service-kit/queue";
import { createEncryption, createKeyedDigest } from "@ehr-marketplace/service-kit/secrets";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import type { DB } from "./database-schema.ts";
import { createDeliveryMetrics, readBacklog } from "./delivery/delivery-metrics.ts";
import { createPipeline } from "./delivery/pipeline.ts";
import { runDueRecoveries } from "./delivery/run-due-recoveries.ts";
import { startScheduler } from "./delivery/scheduler.ts";
import {
  releaseLostJobs,
  removeWorker,
  takeOverFromDeadWorkers,
  takeOverFromPredecessors,
} from "./delivery/take-over.ts";
import { startWorkerSession, workerHost } from "./delivery/worker-session.ts";
import { encryptedColumns } from "./encrypted-columns.ts";
import { createStorage } from "./media/create-storage.ts";
import { migrationsDirectory, serviceRole } from "./migrate-database.ts";
import { checkMailServer } from "./notices/check-mail-server.ts";
import { confirmationPurpose } from "./notices/confirmation-token.ts";
import { createMailMetrics } from "./notices/mail-metrics.ts";
import { runScopeWalks } from "./notices/notify-of-scopes.ts";
import { createMailSender } from "./notices/run-due-mails.ts";
import { createMailer } from "./notices/send-mail.ts";
import { unsubscribePurpose } from "./notices/unsubscribe-token.ts";
import { deliveriesChannel } from "./queue/queues.ts";
import { registerHealthMetrics } from "./recipients/health-metrics.ts";
import { runDueReplays } from "./replays/run-replay-step.ts";
import { registerReviewMetrics } from "./reviews/review-metrics.ts";
import { createScheduledWork } from "./scheduled-jobs.ts";
import { runDueStatements } from "./statements/run-statements.ts";
import { registerStatementMetrics } from "./statements/statement-metrics.ts";
import { runSuspensionWalks } from "./suspensions/notify-of-suspension.ts";
import { runDueSuspensions } from "./suspensions/run-suspension-step.ts";
import type { WorkerConfig } from "./worker-config.ts";

const service = "marketplace-worker";
const about = {
  title: "EHR Marketplace worker",
  description:
    "Delivers events to EHRs and vendors, and runs scheduled jobs. It has no API, only health checks and metrics.",
  links: [],
};
const pollIntervalMs = 1_000;
const statementIntervalMs = 60_000;

/** Composition root of the worker process. Any number of workers may run at once. */
export async function createWorker(
  config: WorkerConfig,
  logger: Logger,
  outboundClient: OutboundClient = createOutboundClient(),
): Promise<App> {
  const storage = await createStorage(config.media);
  const context = await createServiceContext<DB>({ ...config, service, logger, supervisesJobs: true });
  const { metrics, tracing, database, queue } = context;
  const startCheck = checkAtStart({ ...config, pool: database.pool, serviceRole, encryptedColumns, logger });
  const clock = (): Date => new Date();
  const deliveryMetrics = createDeliveryMetrics(metrics.registry, () => readBacklog(database.query));

  registerHealthMetrics(metrics.registry, database.query, clock);
  registerReviewMetrics(metrics.registry, database.query, clock);
  registerStatementMetrics(metrics.registry, database.query, clock);
  const server = await createServer({
    about,
    logger,
    metrics,
    tracing,
    metricsToken: config.metricsToken,
    trustedProxies: [],
    limits: { urlBytes: 2_048, requestMs: 10_000, eventLoopDelayMs: 60_000 },
    problems: [],
    logHash: createKeyedDigest(config.encryptionKeys, "log-hash").create,
    readiness: createReadinessCheck({ database, queue, migrationsDirectory, logger }),
  });

  const common = { database: database.query, queue, clock };
  const stopping = new AbortController();
  const { signal: stopped } = stopping;
  const takeOverDeps = { ...common, logger };
  const session = startWorkerSession({
    url: config.database.url,
    service,
    logger,
    onRegistered: () => scheduler.wake(),
  });
  let isStarting = true;
  const takeOver = async (): Promise<void> => {
    isStarting &&= !session.canCheckOthers();
    if (session.id() === undefined || !(isStarting || session.canCheckOthers())) return;
    const taken = isStarting
      ? await takeOverFromPredecessors(takeOverDeps, workerHost)
      : await takeOverFromDeadWorkers(takeOverDeps);
    if (taken > 0) scheduler.wake();
  };
  const scheduler = startScheduler({
    logger,
    maxInFlight: config.maxInFlight,
    maxPerRecipient: config.maxPerRecipient,
    pipeline: createPipeline({
      ...common,
      random: Math.random,
      encryption: createEncryption(config.encryptionKeys),
      outboundClient,
      vendorNetworks: config.vendorNetworks,
      logger,
      metrics: deliveryMetrics,
      workerId: () => session.id(),
      stopped,
      onLost: (jobs) => scheduler.recover(jobs),
    }),
    release: (jobs) => releaseLostJobs(takeOverDeps, jobs),
  });
  const listener = listen({
    url: config.database.url,
    service,
    channel: deliveriesChannel,
    onNotification: () => scheduler.wake(),
    onConnected: () => scheduler.wake(),
    logger,
  });

  const startTask = (failureMessage: string, work: () => Promise<void>): Promise<void> =>
    runRepeatedly({ work, failureMessage, pauseMs: pollIntervalMs, logger, stopped });
  const maintenance = { ...common, storage, logger, metrics: deliveryMetrics, logDays: config.logDays, stopped };
  const mailer = config.mail && createMailer(config.mail);
  // Nothing waits for it.
  if (mailer !== undefined) void checkMailServer(mailer, logger, stopped);
  const sendDueMails =
    config.mail &&
    mailer &&
    createMailSender({
      ...common,
      ...createMailMetrics(metrics.registry, database.query, clock),
      publicUrl: config.mail.publicUrl,
      webUrl: config.mail.webUrl,
      digest: createKeyedDigest(config.encryptionKeys, unsubscribePurpose),
      confirmationDigest: createKeyedDigest(config.encryptionKeys, confirmationPurpose),
      mailer,
      logger,
      stopped,
    });
  // Independent tasks: a slow or failing one doesn't delay the others.
  const tasks = [
    startTask("failed to run due recoveries", () =>
      runDueRecoveries({ ...common, logger, stopped }).finally(() => scheduler.wake()),
    ),
    startTask("failed to take over deliveries of dead workers", takeOver),
    startTask("failed to run due replays", () => runDueReplays(common).finally(() => scheduler.wake())),
    startTask("failed to run due suspensions", () =>
      runDueSuspensions({ ...common, logger }, { stopped, onStep: () => scheduler.wake() }),
    ),
    startTask("failed to notify subscribers of added scopes", () => runScopeWalks(common, { stopped })),
    startTask("failed to notify subscribers of suspended apps", () => runSuspensionWalks(common, { stopped })),
    ...(sendDueMails === undefined ? [] : [startTask("failed to send mails about notices", sendDueMails)]),
    runRepeatedly({
      work: () => runDueStatements({ database: database.query, clock, logger, stopped }),
      failureMessage: "failed to charge or close months",
      pauseMs: statementIntervalMs,
      logger,
      stopped,
    }),
    startScheduledJobs(maintenance, createScheduledWork(maintenance)),
  ];
  const timer = setInterval(() => scheduler.wake(), pollIntervalMs);

  return {
    server,
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await listener.stop();
      await Promise.all(tasks);
      await scheduler.stop();
      const workerId = await session.stop();
      if (workerId !== undefined) {
        await removeWorker(takeOverDeps, workerId).catch((error: unknown) =>
          logger.warn({ err: error }, "failed to remove the worker; another one removes it"),
        );
      }
      await outboundClient.close();
      storage.stop();
      await startCheck.stop();
      await context.stop();
    },
  };
}
