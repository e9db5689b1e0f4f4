import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Metrics } from "../telemetry/metrics.ts";

const traceparent = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}$/;

function traceIdOf(request: FastifyRequest): string | undefined {
  const { traceparent: header } = request.headers;
  return typeof header === "string" ? traceparent.exec(header)?.[1] : undefined;
}

/** A log line and a histogram name the route's pattern, never the URL: what a person asked for is nobody's business. */
export function observeAnswer(request: FastifyRequest, reply: FastifyReply, metrics: Metrics): void {
  const route = request.routeOptions.url ?? "unknown";
  const milliseconds = reply.elapsedTime;
  metrics.observeRequest(request.method, route, reply.statusCode, milliseconds / 1_000);
  request.log.info(
    {
      method: request.method,
      route,
      status: reply.statusCode,
      ms: Math.round(milliseconds * 100) / 100,
      traceId: traceIdOf(request),
    },
    "answered",
  );
}

export function observeRequests(server: FastifyInstance, metrics: Metrics): void {
  server.addHook("onResponse", (request, reply, done) => {
    observeAnswer(request, reply, metrics);
    done();
  });
}
