import type { FastifyInstance } from "fastify";
import { parseEncryptionKeys } from "../secrets/encryption-keys.ts";
import { createKeyedDigest } from "../secrets/keyed-digest.ts";
import { createLogger } from "../telemetry/logger.ts";
import { createMetrics, type Metrics } from "../telemetry/metrics.ts";
import { startTracing } from "../telemetry/tracing.ts";
import { createServer, type ServerOptions } from "./server.ts";

export { assertSecurityHeaders, rawResponse, readResponse } from "@ehr-marketplace/test-kit";

export interface TestServer {
  url: string;
  port: number;
  server: FastifyInstance;
  metrics: Metrics;
  /** Every line logged so far, parsed. */
  logged: Record<string, unknown>[];
}

export interface TestServerOptions extends Omit<Partial<ServerOptions>, "limits"> {
  limits?: Partial<ServerOptions["limits"]>;
  routes?: (server: FastifyInstance) => unknown;
  host?: string;
  /** Requires access rules of routes, as in a service. */
  closed?: boolean;
}

export const limits = { urlBytes: 8_192, requestMs: 10_000, eventLoopDelayMs: 1_000 };

/** Starts a server as services have it, on a port of its own, with the routes of the test. */
export async function startTestServer(
  after: (stop: () => Promise<unknown>) => void,
  options: TestServerOptions = {},
): Promise<TestServer> {
  const { routes, host = "127.0.0.1", closed = false, ...given } = options;
  const logged: Record<string, unknown>[] = [];
  const metrics = createMetrics("test");
  const server = await createServer({
    about: { title: "Test server", description: "Serves tests.", basePath: "/api/v1", links: [] },
    logger: createLogger({ service: "test", level: "info" }, { write: (line) => logged.push(JSON.parse(line)) }),
    metrics,
    tracing: await startTracing("test", undefined),
    metricsToken: undefined,
    trustedProxies: [],
    readiness: () => Promise.resolve(undefined),
    problems: [],
    access: {
      tokens: {
        findVerified: () => undefined,
        verify: () => Promise.reject(new Error("this server accepts no token")),
      },
      requestsPerMinute: 1_000_000,
      requestsAtOnce: 1_000,
      refusedTokensPerMinute: 1_000_000,
    },
    logHash: createKeyedDigest(parseEncryptionKeys(`1:${Buffer.alloc(32, 1).toString("base64")}`), "log-hash").create,
    ...given,
    limits: { ...limits, ...options.limits },
  });
  // Most tests aren't about access: a route without a rule is public.
  server.addHook("onRoute", (route) => {
    if (!closed) route.config = { access: "anyone", ...route.config };
  });
  await routes?.(server);
  const url = await server.listen({ host, port: 0 });
  after(() => {
    server.server.closeAllConnections();
    return server.close();
  });
  return { url, port: Number(new URL(url).port), server, metrics, logged };
}
