import { listingCheck, listingDraft, listingDto } from "@ehr-marketplace/contracts";
import { createResolver, type Resolver } from "@ehr-marketplace/outbound-http";
import { createNotifier, listen } from "@ehr-marketplace/service-kit/database";
import {
  allowListedOrigins,
  apiReference,
  createReadinessCheck,
  createServer,
  disableCaching,
  importProblems,
  ResponseCache,
} from "@ehr-marketplace/service-kit/http";
import { type App, checkAtStart, createServiceContext } from "@ehr-marketplace/service-kit/process";
import { createEncryption, createKeyedDigest } from "@ehr-marketplace/service-kit/secrets";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import { createTokenVerifier } from "@ehr-marketplace/service-kit/tokens";
import { about, apiDescription, basePath } from "./api-description.ts";
import { auditRoutes } from "./audit/audit-routes.ts";
import { billingProblems } from "./billing/billing-errors.ts";
import { billingRoutes } from "./billing/billing-routes.ts";
import { catalogProblems } from "./catalog/catalog-errors.ts";
import { catalogRoutes } from "./catalog/catalog-routes.ts";
import { createDiscoveryClient } from "./cds-hooks/discover-hooks.ts";
import type { Config } from "./config.ts";
import { connectionProblems } from "./connections/connection-errors.ts";
import { connectionRoutes } from "./connections/connection-routes.ts";
import type { DB } from "./database-schema.ts";
import { encryptedColumns } from "./encrypted-columns.ts";
import { endpointProblems } from "./endpoints/endpoint-errors.ts";
import { endpointRoutes } from "./endpoints/endpoint-routes.ts";
import { idempotencyProblems } from "./idempotency/idempotency-errors.ts";
import { appRoutes } from "./listings/app-routes.ts";
import { listingProblems } from "./listings/listing-errors.ts";
import { listingRoutes } from "./listings/listing-routes.ts";
import { adminMediaRoutes } from "./media/admin-media-routes.ts";
import { createStorage } from "./media/create-storage.ts";
import { mediaProblems } from "./media/media-errors.ts";
import { developerMediaRoutes } from "./media/media-routes.ts";
import { publicMediaRoutes } from "./media/public-media-routes.ts";
import { migrationsDirectory, serviceRole } from "./migrate-database.ts";
import { confirmationPurpose } from "./notices/confirmation-token.ts";
import { mailLinkRoutes } from "./notices/mail-link-routes.ts";
import { noticeProblems } from "./notices/notice-errors.ts";
import { noticeRoutes } from "./notices/notice-routes.ts";
import { unsubscribePurpose } from "./notices/unsubscribe-token.ts";
import { organisationProblems } from "./organisations/organisation-errors.ts";
import { organisationRoutes } from "./organisations/organisation-routes.ts";
import { deliveriesChannel } from "./queue/queues.ts";
import { healthRoutes } from "./recipients/health-routes.ts";
import { replayProblems } from "./replays/replay-errors.ts";
import { replayRoutes } from "./replays/replay-routes.ts";
import { reviewProblems } from "./reviews/review-errors.ts";
import { reviewRoutes } from "./reviews/review-routes.ts";
import { submissionRoutes } from "./reviews/submission-routes.ts";
import { sandboxProblems } from "./sandbox/sandbox-errors.ts";
import { sandboxRoutes } from "./sandbox/sandbox-routes.ts";
import { searchProblems } from "./search/search-errors.ts";
import { synonymRoutes } from "./search/synonym-routes.ts";
import { creditRoutes } from "./statements/credit-routes.ts";
import { statementProblems } from "./statements/statement-errors.ts";
import { statementRoutes } from "./statements/statement-routes.ts";
import { subscriptionProblems } from "./subscriptions/subscription-errors.ts";
import { subscriptionRoutes } from "./subscriptions/subscription-routes.ts";
import { usageProblems } from "./usage/usage-errors.ts";
import { usageRoutes } from "./usage/usage-routes.ts";
import { vendorProblems } from "./vendors/vendor-errors.ts";
import { vendorRoutes } from "./vendors/vendor-routes.ts";

const service = "marketplace-api";
const writingMethods = new Set(["POST", "PUT", "PATCH", "DELETE"]);

/** Composition root of the API process. */
export async function createApp(config: Config, logger: Logger, resolver: Resolver = createResolver()): Promise<App> {
  // If a later step throws, the earlier ones are undone; otherwise their connections would keep the process running.
  await using started = new AsyncDisposableStack();
  started.defer(() => resolver.close());
  const discoveryClient = createDiscoveryClient(resolver.resolve);
  started.defer(() => discoveryClient.close());
  const context = await createServiceContext<DB>({ ...config, service, logger, supervisesJobs: false });
  started.defer(() => context.stop());
  const { metrics, tracing, database, queue } = context;
  const startCheck = checkAtStart({ ...config, pool: database.pool, serviceRole, encryptedColumns, logger });
  started.defer(() => startCheck.stop());
  const tokens = createTokenVerifier({ ...config.tokens, logger });
  started.defer(() => tokens.stop());
  const server = await createServer({
    about,
    logger,
    metrics,
    tracing,
    metricsToken: config.metricsToken,
    trustedProxies: config.trustedProxies,
    limits: config.limits,
    problems: [
      catalogProblems,
      organisationProblems,
      subscriptionProblems,
      idempotencyProblems,
      endpointProblems,
      replayProblems,
      searchProblems,
      vendorProblems,
      listingProblems,
      mediaProblems,
      reviewProblems,
      sandboxProblems,
      connectionProblems,
      usageProblems,
      billingProblems,
      noticeProblems,
      statementProblems,
      importProblems,
    ].flatMap((each) => Object.values(each)),
    access: {
      tokens,
      requestsPerMinute: config.callerRequestsPerMinute,
      requestsAtOnce: config.callerRequestsAtOnce,
      refusedTokensPerMinute: config.publicRequestsPerMinute,
    },
    logHash: createKeyedDigest(config.encryptionKeys, "log-hash").create,
    readiness: createReadinessCheck({ database, queue, migrationsDirectory, logger }),
  });

  const clock = (): Date => new Date();
  const responseCache = new ResponseCache(config.catalogCache);
  const listener = listen({
    url: config.database.url,
    service,
    channel: "catalog_changed",
    onNotification: (slugs) => {
      if (slugs === "") responseCache.invalidate();
      else responseCache.invalidateNames(slugs.split(" "));
    },
    onConnected: () => responseCache.invalidate(),
    logger,
  });
  started.defer(() => listener.stop());

  const deliveryNotifier = createNotifier({ pool: database.pool, channel: deliveriesChannel, logger });
  started.defer(() => deliveryNotifier.stop());

  const storage = await createStorage(config.media);
  started.defer(() => storage.stop());
  const mediaDeps = { database: database.query, storage };

  await apiReference(server, apiDescription);
  await server.register(catalogRoutes, {
    prefix: basePath,
    database: database.query,
    responseCache,
    publicUrl: config.publicUrl,
    requestsPerMinute: config.publicRequestsPerMinute,
    clock,
    usageLimits: config.usageLimits,
  });
  await server.register(
    async (scope) => {
      await allowListedOrigins(scope, config.allowedOrigins);
      disableCaching(scope);
      // A request that writes may have queued deliveries. Its transaction is committed, and its response doesn't wait.
      scope.addHook("onSend", (request, reply, payload, next) => {
        if (writingMethods.has(request.method) && reply.statusCode < 300) deliveryNotifier.notify();
        next(null, payload);
      });
      const encryption = createEncryption(config.encryptionKeys);
      const bodyDigest = createKeyedDigest(config.encryptionKeys, "idempotency");
      const { resolve } = resolver;
      const { usageLimits } = config;
      await scope.register(organisationRoutes, { database: database.query, encryption, clock, queue, resolve });
      await scope.register(auditRoutes, { database: database.query });
      await scope.register(subscriptionRoutes, { database: database.query, clock, queue, bodyDigest, usageLimits });
      const allowedNetworks = config.vendorNetworks;
      const webhookDeps = { database: database.query, encryption, clock, queue, bodyDigest, allowedNetworks };
      await scope.register(endpointRoutes, { ...webhookDeps, resolve });
      await scope.register(replayRoutes, webhookDeps);
      await scope.register(healthRoutes, { database: database.query, clock });
      await scope.register(synonymRoutes, { database: database.query, clock });
      await scope.register(vendorRoutes, { database: database.query, clock });
      for (const schema of [listingDraft, listingDto, listingCheck]) scope.addSchema(schema);
      const listingDeps = { database: database.query, encryption, clock, allowsHttp: config.allowsHttp, usageLimits };
      await scope.register(listingRoutes, listingDeps);
      await scope.register(developerMediaRoutes, { ...mediaDeps, clock, publicUrl: config.publicUrl });
      await scope.register(adminMediaRoutes, { ...mediaDeps, clock, publicUrl: config.publicUrl });
      await scope.register(submissionRoutes, listingDeps);
      await scope.register(reviewRoutes, { ...listingDeps, queue, publicUrl: config.publicUrl });
      await scope.register(appRoutes, { ...listingDeps, queue });
      const { publicUrl, allowsHttp } = config;
      const installationDeps = { database: database.query, clock, queue, publicUrl, allowsHttp, usageLimits };
      await scope.register(sandboxRoutes, { ...installationDeps, bodyDigest, discoveryClient, allowedNetworks });
      await scope.register(connectionRoutes, installationDeps);
      const usageRequests = { requestsPerMinute: config.usageRequestsPerMinute };
      await scope.register(usageRoutes, { database: database.query, clock, queue, usageLimits, ...usageRequests });
      await scope.register(billingRoutes, { database: database.query, clock, queue, usageLimits });
      await scope.register(noticeRoutes, { database: database.query, clock });
      await scope.register(statementRoutes, { database: database.query, clock });
      await scope.register(creditRoutes, { database: database.query, clock, bodyDigest });
    },
    { prefix: basePath },
  );
  await server.register(publicMediaRoutes, {
    ...mediaDeps,
    requestsPerMinute: config.publicRequestsPerMinute,
  });

  await server.register(mailLinkRoutes, {
    database: database.query,
    clock: () => new Date(),
    unsubscribeDigest: createKeyedDigest(config.encryptionKeys, unsubscribePurpose),
    confirmationDigest: createKeyedDigest(config.encryptionKeys, confirmationPurpose),
    requestsPerMinute: config.publicRequestsPerMinute,
  });

  const running = started.move();
  return { server, stop: () => running.disposeAsync() };
}
