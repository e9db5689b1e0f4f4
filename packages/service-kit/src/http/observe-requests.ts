import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "../telemetry/logger.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { createRequestLog, type RefusedBy } from "../telemetry/request-log.ts";
import { isProbed } from "./operations-routes.ts";
import { networkOf } from "./rate-limit.ts";

/** Hashes a value that must not be logged, so that log lines with the same value can be found. */
export type LogHash = (value: string) => string;

export type ObserveResponse = (request: FastifyRequest, reply: FastifyReply) => void;

const traceparent = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}$/;

function getTraceId(request: FastifyRequest): string | undefined {
  const { traceparent: header } = request.headers;
  return typeof header === "string" ? traceparent.exec(header)?.[1] : undefined;
}

const refusalStatuses = new Set([401, 403, 429]);

/** Uses keyed hashes: log lines of the same caller or address can be correlated, and the values can't be found by brute force. */
function hashSender({ ip, caller }: FastifyRequest, logHash: LogHash): RefusedBy {
  return {
    addressHash: logHash(networkOf(ip)),
    subjectHash: caller && logHash(JSON.stringify([caller.issuer, caller.subject])),
  };
}

/** Logs and measures every response, probes at level debug unless they are refused. Both contain the route's pattern, never the URL, which may contain personal data. */
export function observeRequests(
  server: FastifyInstance,
  { metrics, logger, logHash }: { metrics: Metrics; logger: Logger; logHash: LogHash },
): ObserveResponse {
  const log = createRequestLog(logger);
  const observe: ObserveResponse = (request, reply) => {
    const { id: requestId, method, problemCode: code } = request;
    const route = request.routeOptions.url ?? "unknown";
    const { elapsedTime: milliseconds, statusCode: status } = reply;
    metrics.observeRequest(method, route, status, milliseconds / 1_000);
    const refusedBy = refusalStatuses.has(status) ? hashSender(request, logHash) : undefined;
    const level = isProbed(route) && refusedBy === undefined ? "debug" : "info";
    log({ level, requestId, method, route, status, code, milliseconds, traceId: getTraceId(request), refusedBy });
  };
  server.addHook("onResponse", (request, reply, done) => {
    observe(request, reply);
    done();
  });
  return observe;
}
