import { operations } from "@ehr-marketplace/client/operations";
import { createReadinessCheck, createServer } from "@ehr-marketplace/service-kit/http";
import { type App, checkAtStart, createServiceContext } from "@ehr-marketplace/service-kit/process";
import { runMaintenanceSteps, startScheduledJobs } from "@ehr-marketplace/service-kit/queue";
import { createEncryption, createKeyedDigest } from "@ehr-marketplace/service-kit/secrets";
import type { Logger } from "@ehr-marketplace/service-kit/telemetry";
import { createLogoutTokenVerifier, createTokenVerifier } from "@ehr-marketplace/service-kit/tokens";
import cookie from "@fastify/cookie";
import { createCatalogClient } from "./catalog/catalog-client.ts";
import type { Config } from "./config.ts";
import { consoleRoutes } from "./console-page/console-routes.ts";
import type { DB } from "./database-schema.ts";
import { migrationsDirectory, serviceRole } from "./migrate-database.ts";
import { proxyRoutes } from "./proxy/proxy-routes.ts";
import { scheduledJobs as queueName } from "./queues.ts";
import { createCookies } from "./sessions/cookies.ts";
import { createIdentityProvider } from "./sessions/identity-provider.ts";
import { sessionRoutes } from "./sessions/session-routes.ts";
import { createSessions } from "./sessions/sessions.ts";
import { loadBuiltPages } from "./storefront/built-pages.ts";
import { createErrorShape, createMessageWriter } from "./storefront/error-shape.ts";
import { fileRoutes } from "./storefront/file-routes.ts";
import { createPageHeaders } from "./storefront/page-headers.ts";
import { storefrontRoutes } from "./storefront/storefront-routes.ts";
import { webProblems } from "./web-problems.ts";

const service = "web";

/** The composition root of the process. It contains no business logic. */
export async function createApp(config: Config, logger: Logger): Promise<App> {
  // If a later step throws, the earlier ones are undone; otherwise their connections would keep the process running.
  await using started = new AsyncDisposableStack();
  const built = await loadBuiltPages();
  const context = await createServiceContext<DB>({ ...config, service, logger, supervisesJobs: true });
  started.defer(() => context.stop());
  const { metrics, tracing, database, queue } = context;
  const startCheck = checkAtStart({ ...config, pool: database.pool, serviceRole, encryptedColumns: [], logger });
  started.defer(() => startCheck.stop());
  const tokens = createTokenVerifier({ ...config.tokens, logger });
  started.defer(() => tokens.stop());
  const { issuer, jwksUrl } = config.tokens;
  const { clientId } = config.identityProvider;
  const logoutTokens = createLogoutTokenVerifier({ issuer, jwksUrl, clientId, logger });
  started.defer(() => logoutTokens.stop());
  const clock = (): Date => new Date();
  const encryption = createEncryption(config.encryptionKeys);
  const provider = createIdentityProvider(config.identityProvider);
  const cookies = createCookies(encryption, config);
  const { publicUrl, sessions: limits } = config;
  const sessions = createSessions({ database: database.query, encryption, provider, tokens, limits, clock, logger });

  const headers = createPageHeaders(config.mediaOrigin);
  const { upstreams, catalogTimeoutMs: timeoutMs } = config;
  const client = createCatalogClient({ marketplaceUrl: upstreams.marketplace, logger, clock, timeoutMs });
  const { vendorsUrl, supportUrl } = config;
  const site = { publicUrl, vendorsUrl, supportUrl, headers };
  const storefront = { client, built, ...site, requestsPerMinute: config.publicRequestsPerMinute, clock };

  const server = await createServer({
    about: undefined,
    errorShape: createErrorShape(built, site),
    logger,
    metrics,
    tracing,
    metricsToken: config.metricsToken,
    trustedProxies: config.trustedProxies,
    limits: config.limits,
    problems: Object.values(webProblems),
    logHash: createKeyedDigest(config.encryptionKeys, "log-hash").create,
    readiness: createReadinessCheck({ database, queue, migrationsDirectory, logger, servesWithoutDatabase: true }),
  });
  await server.register(storefrontRoutes, storefront);
  await server.register(fileRoutes, storefront);
  await server.register(consoleRoutes, {
    urls: built.console,
    supportUrl,
    mediaOrigin: config.mediaOrigin,
    identityProviderOrigin: new URL(issuer).origin,
    requestsPerMinute: config.publicRequestsPerMinute,
  });
  await server.register(cookie);
  await server.register(sessionRoutes, {
    database: database.query,
    sessions,
    cookies,
    provider,
    logoutTokens,
    limits,
    publicUrl,
    writeMessage: createMessageWriter(built, site),
    requestsPerMinute: config.publicRequestsPerMinute,
    clock,
  });
  for (const [name, title] of [
    ["marketplace", "the marketplace"],
    ["ehr", "the EHR"],
  ] as const) {
    await server.register(proxyRoutes, {
      prefix: `/bff/${name}`,
      service: title,
      upstreamUrl: upstreams[name],
      operations: operations[name],
      sessions,
      cookies,
      publicUrl,
      requestsPerMinute: config.publicRequestsPerMinute,
    });
  }

  const stopping = new AbortController();
  const steps = { "delete old sessions": () => sessions.deleteOld() };
  const deleteOld = (): Promise<void> => runMaintenanceSteps(steps, { logger, stopped: stopping.signal });
  const scheduled = startScheduledJobs(
    { queue, logger, stopped: stopping.signal },
    { queueName, jobs: { "keep-house": { cron: "17 * * * *", work: deleteOld } }, runAtStartup: deleteOld },
  );
  started.defer(async () => {
    stopping.abort();
    await scheduled;
  });

  const running = started.move();
  return { server, stop: () => running.disposeAsync() };
}
