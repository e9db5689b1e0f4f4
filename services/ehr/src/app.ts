import { failure } from "@ehr-marketplace/contracts";
import { listen } from "@ehr-marketplace/service-kit/database";
import {
  allowListedOrigins,
  apiReference,
  createReadinessCheck,
  createServer,
  disableCaching,
} from "@ehr-marketplace/service-kit/http";
import { type App, checkAtStart, createServiceContext } from "@ehr-marketplace/service-kit/process";
import { startScheduledJobs } from "@ehr-marketplace/service-kit/queue";
import { createEncryption, createKeyedDigest } from "@ehr-marketplace/service-kit/secrets";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import { createTokenVerifier } from "@ehr-marketplace/service-kit/tokens";
import { about, apiDescription } from "./api-description.ts";
import { workAppFetches } from "./apps/fetch-app.ts";
import { createMarketplaceCatalog } from "./apps/marketplace-catalog.ts";
import { createAppParser } from "./apps/parse-app.ts";
import { auditRoutes } from "./audit/audit-routes.ts";
import { createServerClient } from "./clients/authorization-server.ts";
import { createClientCache } from "./clients/client-cache.ts";
import { workClientJobs } from "./clients/client-jobs.ts";
import { registerClientMetrics } from "./clients/client-metrics.ts";
import { createClientRegistrar } from "./clients/client-registrar.ts";
import { clientRoutes } from "./clients/client-routes.ts";
import { createClientMetadataReader } from "./clients/marketplace-clients.ts";
import { createClientMetadataParser } from "./clients/parse-client-metadata.ts";
import { createConnectionReporter, workConnectionReports } from "./clients/report-connections.ts";
import type { Config } from "./config.ts";
import type { DB } from "./database-schema.ts";
import { encryptedColumns } from "./encrypted-columns.ts";
import { createInstallationCache } from "./installations/installation-cache.ts";
import { installationRoutes } from "./installations/installation-routes.ts";
import { loadInstallations } from "./installations/read-installations.ts";
import { createLaunchWriter } from "./launches/launch-app.ts";
import { createLaunchMetrics } from "./launches/launch-metrics.ts";
import { launchRoutes } from "./launches/launch-routes.ts";
import { createLaunchReporter, workLaunchReports } from "./launches/report-sandbox-launches.ts";
import { marketplaceEventRoutes } from "./marketplace-events/marketplace-event-routes.ts";
import { migrationsDirectory, serviceRole } from "./migrate-database.ts";
import { organisationRoutes } from "./organisations/organisation-routes.ts";
import { createOrganisationSlots } from "./organisations/organisation-slots.ts";
import { createSubscriptionLister } from "./reconciliation/marketplace-subscriptions.ts";
import { createMarketplaceTokens } from "./reconciliation/marketplace-tokens.ts";
import type { ReconciliationDeps } from "./reconciliation/reconcile.ts";
import { workReconciliations } from "./reconciliation/reconciliation-jobs.ts";
import {
  createCorrectionCounter,
  createSkippedCounter,
  registerReconciliationMetrics,
} from "./reconciliation/reconciliation-metrics.ts";
import { reconciliationRoutes } from "./reconciliation/reconciliation-routes.ts";
import { watchEpoch } from "./reconciliation/watch-epoch.ts";
import { wrapperShape } from "./responses.ts";
import { createScheduledWork } from "./scheduled-jobs.ts";
import { createAppConfirmer } from "./subscriptions/confirm-apps.ts";
import { differenceRoutes } from "./subscriptions/difference-routes.ts";
import { findSandboxSubscribers } from "./subscriptions/stored-states.ts";
import { registerSubscriptionMetrics } from "./subscriptions/subscription-metrics.ts";

const service = "ehr-api";
/** Clients take a sixteenth of the memory for installations: an entry is small, and there may be one for each installation. */
const clientCacheShare = 16;

/** The composition root of the process. It contains no business logic. */
export async function createApp(config: Config, logger: Logger): Promise<App> {
  // If a later step throws, the earlier ones are undone; otherwise their connections would keep the process running.
  await using started = new AsyncDisposableStack();
  const context = await createServiceContext<DB>({ ...config, service, logger, supervisesJobs: true });
  started.defer(() => context.stop());
  const { metrics, tracing, database, queue } = context;
  const startCheck = checkAtStart({ ...config, pool: database.pool, serviceRole, encryptedColumns, logger });
  started.defer(() => startCheck.stop());
  const tokens = createTokenVerifier({ ...config.tokens, logger });
  started.defer(() => tokens.stop());
  const clock = (): Date => new Date();
  const encryption = createEncryption(config.encryptionKeys);
  const common = { database: database.query, queue, clock };
  const { url: marketplaceUrl, credentials } = config.marketplace;
  const parseApp = createAppParser({ allowsHttp: config.marketplace.allowsHttp });
  const marketplaceTokens = credentials && createMarketplaceTokens(credentials, clock);
  const reconciliation: ReconciliationDeps | undefined = marketplaceTokens && {
    ...common,
    logger,
    countCorrections: createCorrectionCounter(metrics.registry),
    countSkipped: createSkippedCounter(metrics.registry),
    listSubscriptions: createSubscriptionLister(marketplaceUrl, marketplaceTokens, parseApp),
  };
  const reconciles = reconciliation !== undefined;
  const sandbox = marketplaceTokens && {
    tokens: marketplaceTokens,
    findSubscribers: (appSlug: string) => findSandboxSubscribers(database.query, appSlug),
  };
  const catalog = createMarketplaceCatalog(marketplaceUrl, { parseApp, sandbox });
  const reportLaunch = marketplaceTokens && createLaunchReporter(marketplaceUrl, marketplaceTokens);
  const putConnection =
    marketplaceTokens && createConnectionReporter(marketplaceUrl, marketplaceTokens, config.fhirBaseUrl);
  const { method, per, ...registration } = config.clientRegistration;
  const clientStore = { ...common, encryption, reports: putConnection !== undefined };
  const clientDeps = {
    ...clientStore,
    logger,
    method,
    per,
    registrar: createClientRegistrar({ ...registration, send: createServerClient() }),
    fetchMetadata: createClientMetadataReader(marketplaceUrl, {
      parse: createClientMetadataParser({ allowsHttp: config.marketplace.allowsHttp }),
      sandbox,
    }),
  };
  registerClientMetrics(metrics.registry, database.query);
  const confirmer = createAppConfirmer({ ...common, catalog, logger, reconciles });
  started.defer(() => confirmer.stop());
  registerSubscriptionMetrics(metrics.registry, database.query);
  if (reconciles) registerReconciliationMetrics(metrics.registry, database.query, clock);
  const installations = createInstallationCache({
    maxBytes: config.installationCacheBytes,
    load: (orgAlias) => loadInstallations(database.query, encryption, orgAlias, logger),
  });
  const clients = createClientCache(database.query, config.installationCacheBytes / clientCacheShare);
  const caches = [installations, clients];
  const slots = createOrganisationSlots();
  const listener = listen({
    url: config.database.url,
    service,
    channel: "installations_changed",
    onNotification: (payload) => caches.forEach((cache) => cache.handleNotification(payload)),
    onConnected: () => caches.forEach((cache) => cache.connected()),
    onDisconnected: () => caches.forEach((cache) => cache.disconnected()),
    logger,
  });
  started.defer(() => listener.stop());
  const server = await createServer({
    about,
    logger,
    metrics,
    tracing,
    metricsToken: config.metricsToken,
    trustedProxies: config.trustedProxies,
    limits: config.limits,
    errorShape: wrapperShape,
    access: {
      tokens,
      requestsPerMinute: config.callerRequestsPerMinute,
      requestsAtOnce: config.callerRequestsAtOnce,
      refusedTokensPerMinute: config.publicRequestsPerMinute,
    },
    logHash: createKeyedDigest(config.encryptionKeys, "log-hash").create,
    readiness: createReadinessCheck({ database, queue, migrationsDirectory, logger }),
  });
  server.addSchema(failure);
  await apiReference(server, apiDescription);
  await server.register(
    async (scope) => {
      await allowListedOrigins(scope, config.allowedOrigins);
      disableCaching(scope);
      await scope.register(marketplaceEventRoutes, {
        ...common,
        logger,
        confirmer,
        slots,
        encryption,
        refusedSignaturesPerMinute: config.publicRequestsPerMinute,
      });
      await scope.register(organisationRoutes, { ...common, encryption, reconciles });
      await scope.register(auditRoutes, { database: database.query, clock });
      await scope.register(differenceRoutes, common);
      await scope.register(reconciliationRoutes, { database: database.query, reconciliation });
      await scope.register(installationRoutes, { ...common, encryption, installations, confirmer, slots });
      await scope.register(clientRoutes, { ...clientStore, clients, installations });
      await scope.register(launchRoutes, {
        database,
        queue,
        insertLaunch: createLaunchWriter(database),
        clock,
        metrics: createLaunchMetrics(metrics.registry),
        fhirBaseUrl: config.fhirBaseUrl,
        launchLogDays: config.launchLogDays,
        confirmer,
      });
    },
    { prefix: "/api" },
  );

  const stopping = new AbortController();
  const { signal: stopped } = stopping;
  const maintenance = {
    ...common,
    logger,
    launchLogDays: config.launchLogDays,
    watchEpoch: reconciliation && (() => watchEpoch(reconciliation)),
    stopped,
  };
  const scheduledJobs = startScheduledJobs(maintenance, createScheduledWork(maintenance), [
    (boss) => workAppFetches(boss, (slug, since) => confirmer.confirm(slug, since)),
    async (boss) => (reconciliation === undefined ? undefined : workReconciliations(boss, reconciliation)),
    async (boss) => (reportLaunch === undefined ? undefined : workLaunchReports(boss, { reportLaunch, logger })),
    (boss) => workClientJobs(boss, clientDeps),
    async (boss) => {
      if (putConnection !== undefined) await workConnectionReports(boss, { ...common, logger, putConnection });
    },
  ]);
  started.defer(async () => {
    stopping.abort();
    await scheduledJobs;
  });

  const running = started.move();
  return { server, stop: () => running.disposeAsync() };
}
