import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyInstance } from "fastify";
import type { Metrics } from "../telemetry/metrics.ts";
import { Problem } from "./problem.ts";
import { standardProblems } from "./standard-problems.ts";

/** Answers why the service can't serve now, or nothing when it can. */
export type Readiness = () => Promise<string | undefined>;

const readinessKeptMs = 500;

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** However often the probe asks, the database is asked twice a second at most. */
function remembered(readiness: Readiness): Readiness {
  let asked: { at: number; answer: Promise<string | undefined> } | undefined;
  return () => {
    const now = performance.now();
    if (asked === undefined || now - asked.at > readinessKeptMs) asked = { at: now, answer: readiness() };
    return asked.answer;
  };
}

export function operationsRoutes(
  server: FastifyInstance,
  options: { readiness: Readiness; metrics: Metrics; metricsToken: string | undefined },
): void {
  // A busy process is alive: restarting it for that would take the others down as well.
  const hidden = { schema: { hide: true }, config: { access: "anyone", pressureHandler: () => undefined } } as const;
  const whyNotReady = remembered(options.readiness);
  let stopping = false;
  server.addHook("preClose", (done) => {
    stopping = true;
    done();
  });

  server.get("/health/live", hidden, (_request, reply) =>
    reply.header("cache-control", "no-store").send({ status: "live" }),
  );

  server.get("/health/ready", hidden, async (_request, reply) => {
    const reason = stopping ? "the service is stopping" : await whyNotReady();
    if (reason !== undefined) {
      throw new Problem(standardProblems.unavailable, `Not ready: ${reason}.`, { headers: { "retry-after": "2" } });
    }
    return reply.header("cache-control", "no-store").send({ status: "ready" });
  });

  const expected = options.metricsToken === undefined ? undefined : digest(`Bearer ${options.metricsToken}`);
  server.get("/metrics", hidden, async (request, reply) => {
    const given = digest(request.headers.authorization ?? "");
    if (expected !== undefined && !timingSafeEqual(given, expected)) {
      throw new Problem(standardProblems.unauthorized, "/metrics asks for the token that METRICS_TOKEN sets.", {
        headers: { "www-authenticate": 'Bearer realm="metrics"' },
      });
    }
    return reply
      .header("cache-control", "no-store")
      .type(options.metrics.registry.contentType)
      .send(await options.metrics.registry.metrics());
  });
}
