import { normalizeIP } from "@fastify/rate-limit";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "../telemetry/logger.ts";
import type { Metrics } from "../telemetry/metrics.ts";

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
function hashSender({ ip, caller }: FastifyRequest, logHash: LogHash) {
  return {
    addressHash: logHash(normalizeIP(ip)),
    subjectHash: caller && logHash(JSON.stringify([caller.issuer, caller.subject])),
  };
}

/** Logs and measures every response. Both contain the route's pattern, never the URL, which may contain personal data. */
export function observeRequests(
  server: FastifyInstance,
  { metrics, logger, logHash }: { metrics: Metrics; logger: Logger; logHash: LogHash },
): ObserveResponse {
  const observe: ObserveResponse = (request, reply) => {
    const { id: requestId, method, problemCode: code } = request;
    const route = request.routeOptions.url ?? "unknown";
    const { elapsedTime, statusCode: status } = reply;
    metrics.observeRequest(method, route, status, elapsedTime / 1_000);
    const ms = Math.round(elapsedTime * 100) / 100;
    const sender = refusalStatuses.has(status) ? hashSender(request, logHash) : {};
    const fields = { requestId, method, route, status, code, ms, traceId: getTraceId(request), ...sender };
    logger.info(fields, "request completed");
  };
  server.addHook("onResponse", (request, reply, done) => {
    observe(request, reply);
    done();
  });
  return observe;
}
