import { failure } from "@ehr-marketplace/contracts";
import { listen } from "@ehr-marketplace/service-kit/database";
import {
  allowListedOrigins,
  apiReference,
  createServer,
  neverCache,
  readinessOf,
} from "@ehr-marketplace/service-kit/http";
import { type App, layFoundation } from "@ehr-marketplace/service-kit/process";
import { createKeyedDigest, createSeal } from "@ehr-marketplace/service-kit/secrets";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import { createTokens } from "@ehr-marketplace/service-kit/tokens";
import { wrapperShape } from "./answers.ts";
import { apiDescription } from "./api-description.ts";
import { workAppFetches } from "./apps/fetch-app.ts";
import { createMarketplaceCatalog } from "./apps/marketplace-catalog.ts";
import { createAppReader } from "./apps/read-app.ts";
import { auditRoutes } from "./audit/audit-routes.ts";
import { startTending } from "./chores.ts";
import type { Config } from "./config.ts";
import type { DB } from "./database-schema.ts";
import { createAppConfirmer } from "./installations/confirm-apps.ts";
import { createInstallationCache } from "./installations/installation-cache.ts";
import { installationRoutes } from "./installations/installation-routes.ts";
import { loadInstallations } from "./installations/read-installations.ts";
import { watchSubscriptions } from "./installations/subscription-metrics.ts";
import { launchLog } from "./launches/launch-app.ts";
import { createLaunchMetrics } from "./launches/launch-metrics.ts";
import { launchRoutes } from "./launches/launch-routes.ts";
import { marketplaceEventRoutes } from "./marketplace-events/marketplace-event-routes.ts";
import { migrationsDirectory } from "./migrate-database.ts";
import { organisationRoutes } from "./organisations/organisation-routes.ts";
import { createOrganisationSlots } from "./organisations/organisation-slots.ts";
import { createSubscriptionList } from "./reconciliation/marketplace-subscriptions.ts";
import { createMarketplaceToken } from "./reconciliation/marketplace-token.ts";
import type { Reconciling } from "./reconciliation/reconcile.ts";
import { workReconciliations } from "./reconciliation/reconcile-by-jobs.ts";
import { createCorrectionCounter, watchReconciliation } from "./reconciliation/reconciliation-metrics.ts";
import { reconciliationRoutes } from "./reconciliation/reconciliation-routes.ts";

const service = "ehr-api";

/** Wires the process: everything it needs, and nothing that decides anything. */
export async function createApp(config: Config, logger: Logger): Promise<App> {
  const foundation = await layFoundation<DB>({ ...config, service, logger, tendsJobs: true });
  const { metrics, tracing, database, queue } = foundation;
  const tokens = createTokens({ ...config.tokens, logger });
  const clock = (): Date => new Date();
  const seal = createSeal(config.encryptionKeys);
  const common = { database: database.query, queue, clock };
  const { url: marketplaceUrl, credentials } = config.marketplace;
  const readApp = createAppReader({ allowsHttp: config.marketplace.allowsHttp });
  const reconciling: Reconciling | undefined = credentials && {
    ...common,
    logger,
    countCorrections: createCorrectionCounter(metrics.registry),
    listSubscriptions: createSubscriptionList(marketplaceUrl, createMarketplaceToken(credentials, clock), readApp),
  };
  const reconciles = reconciling !== undefined;
  const catalog = createMarketplaceCatalog(marketplaceUrl, { readApp });
  const confirmer = createAppConfirmer({ ...common, catalog, logger, reconciles });
  watchSubscriptions(metrics.registry, database.query);
  if (reconciles) watchReconciliation(metrics.registry, database.query, clock);
  const installations = createInstallationCache({
    maxBytes: config.installationCacheBytes,
    load: (orgAlias) => loadInstallations(database.query, seal, orgAlias, logger),
  });
  const slots = createOrganisationSlots();
  const listener = listen({
    url: config.database.url,
    service,
    channel: "installations_changed",
    onNotification: installations.hear,
    onConnected: installations.connected,
    onDisconnected: installations.disconnected,
    logger,
  });
  const server = await createServer({
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
      refusedTokensPerMinute: config.publicRequestsPerMinute,
    },
    logHash: createKeyedDigest(config.encryptionKeys, "log-hash").create,
    readiness: readinessOf({ database, queue, migrationsDirectory, logger }),
  });
  server.addSchema(failure);
  await apiReference(server, apiDescription);
  await server.register(
    async (scope) => {
      await allowListedOrigins(scope, config.allowedOrigins);
      neverCache(scope);
      await scope.register(marketplaceEventRoutes, {
        ...common,
        logger,
        confirmer,
        slots,
        seal,
        refusedSignaturesPerMinute: config.publicRequestsPerMinute,
      });
      await scope.register(organisationRoutes, { ...common, seal, reconciles });
      await scope.register(auditRoutes, { database: database.query, clock });
      await scope.register(reconciliationRoutes, { database: database.query, reconciling });
      await scope.register(installationRoutes, { ...common, seal, installations, confirmer, slots });
      await scope.register(launchRoutes, {
        database,
        log: launchLog(database),
        clock,
        metrics: createLaunchMetrics(metrics.registry),
        fhirBaseUrl: config.fhirBaseUrl,
        launchLogDays: config.launchLogDays,
        confirmer,
      });
    },
    { prefix: "/api" },
  );

  const tending = startTending({ ...common, logger, launchLogDays: config.launchLogDays, reconciles }, [
    (boss) => workAppFetches(boss, (slug) => confirmer.confirm(slug)),
    async (boss) => (reconciling === undefined ? undefined : workReconciliations(boss, reconciling)),
  ]);

  return {
    server,
    async stop() {
      tokens.stop();
      await listener.stop();
      await tending.stop();
      await confirmer.stop();
      await foundation.stop();
    },
  };
}
