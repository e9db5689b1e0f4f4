import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { Gauge } from "prom-client";
import type { Metrics } from "../telemetry/metrics.ts";
import { healthLinks, renderHealthPage } from "./health-page.ts";
import { acceptsHtml, pageHeaders } from "./html-page.ts";
import { Problem } from "./problem.ts";
import { standardProblems } from "./standard-problems.ts";

/** Why a process isn't ready. The response has only this code: the route needs no token, so the details are in the log. */
export type NotReadyReason =
  | "check-failed"
  | "database-login-refused"
  | "database-read-only"
  | "database-unavailable"
  | "migrations-missing"
  | "queue-version"
  | "stopping";

/** Returns why the service isn't ready, or undefined if it is. */
export type ReadinessCheck = () => Promise<NotReadyReason | undefined>;

const readinessPath = "/health/ready";
const healthPath = "/health";
const livenessPath = "/health/live";
const metricsPath = "/metrics";
/** A process that isn't ready is probed often, and the readiness check logs the reason itself. */
export const isHealthCheck = (url: string | undefined): boolean => url === readinessPath || url === healthPath;

const probedPaths = new Set([livenessPath, readinessPath, healthPath, metricsPath]);
/** Routes that orchestrators and Prometheus call every few seconds. */
export const isProbed = (route: string): boolean => probedPaths.has(route);

const readinessCacheMs = 500;

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Caches the result, so that frequent probes query the database at most twice a second. */
function cacheReadiness(readiness: ReadinessCheck): ReadinessCheck {
  let checked: { at: number; result: ReturnType<ReadinessCheck> } | undefined;
  return () => {
    const now = performance.now();
    if (checked === undefined || now - checked.at > readinessCacheMs) checked = { at: now, result: readiness() };
    return checked.result;
  };
}

export function operationsRoutes(
  server: FastifyInstance,
  options: { readiness: ReadinessCheck; metrics: Metrics; metricsToken: string | undefined },
): void {
  // Exempt from load shedding: an orchestrator that restarts overloaded processes would overload the others.
  const hidden = { schema: { hide: true }, config: { access: "anyone", pressureHandler: () => undefined } } as const;
  const checkReadiness = cacheReadiness(options.readiness);
  let stopping = false;
  server.addHook("preClose", (done) => {
    stopping = true;
    done();
  });

  server.get(livenessPath, hidden, (_request, reply) =>
    reply.header("cache-control", "no-store").send({ status: "live" }),
  );

  const findReason: ReadinessCheck = async () => (stopping ? "stopping" : checkReadiness());
  // Checked with each scrape: a process that isn't ready gets no requests, so nothing else would tell.
  new Gauge({
    name: "process_ready",
    help: "1 if the process is ready for requests, 0 if it isn't",
    registers: [options.metrics.registry],
    async collect() {
      this.set((await findReason()) === undefined ? 1 : 0);
    },
  });
  const notReady = (reason: NotReadyReason): Problem =>
    new Problem(standardProblems.unavailable, `Not ready: ${reason}.`, { headers: { "retry-after": "2" } });

  server.get(readinessPath, hidden, async (_request, reply) => {
    const reason = await findReason();
    if (reason !== undefined) throw notReady(reason);
    return reply.header("cache-control", "no-store").send({ status: "ready" });
  });

  // For people, and for probes that expect the check here: it has the status of the readiness check.
  server.get(healthPath, hidden, async (request, reply) => {
    const reason = await findReason();
    reply.headers({ "cache-control": "no-store", vary: "accept" });
    if (acceptsHtml(request)) {
      return reply
        .code(reason === undefined ? 200 : 503)
        .headers(pageHeaders)
        .send(renderHealthPage(reason));
    }
    if (reason !== undefined) throw notReady(reason);
    return reply.send({ status: "ready", links: healthLinks });
  });

  const expected = options.metricsToken === undefined ? undefined : digest(`Bearer ${options.metricsToken}`);
  server.get(metricsPath, hidden, async (request, reply) => {
    const given = digest(request.headers.authorization ?? "");
    if (expected !== undefined && !timingSafeEqual(given, expected)) {
      throw new Problem(standardProblems.unauthorized, "/metrics requires the token set in METRICS_TOKEN.", {
        headers: { "www-authenticate": 'Bearer realm="metrics"' },
      });
    }
    return reply
      .header("cache-control", "no-store")
      .type(options.metrics.registry.contentType)
      .send(await options.metrics.registry.metrics());
  });
}
