import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "../telemetry/logger.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { requestLog } from "../telemetry/request-log.ts";

export type ObserveAnswer = (request: FastifyRequest, reply: FastifyReply) => void;

const traceparent = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}$/;

function traceIdOf(request: FastifyRequest): string | undefined {
  const { traceparent: header } = request.headers;
  return typeof header === "string" ? traceparent.exec(header)?.[1] : undefined;
}

/** A log line and a histogram name the route's pattern, never the URL: what a person asked for is nobody's business. */
export function observeRequests(server: FastifyInstance, metrics: Metrics, logger: Logger): ObserveAnswer {
  const log = requestLog(logger);
  const observe: ObserveAnswer = (request, reply) => {
    const { method } = request;
    const route = request.routeOptions.url ?? "unknown";
    const milliseconds = reply.elapsedTime;
    const status = reply.statusCode;
    metrics.observeRequest(method, route, status, milliseconds / 1_000);
    log({ requestId: request.id, method, route, status, milliseconds, traceId: traceIdOf(request) });
  };
  server.addHook("onResponse", (request, reply, done) => {
    observe(request, reply);
    done();
  });
  return observe;
}
