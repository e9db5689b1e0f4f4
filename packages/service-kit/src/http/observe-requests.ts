import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "../telemetry/logger.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { type RefusedBy, requestLog } from "../telemetry/request-log.ts";
import { addressCounted } from "./rate-limit.ts";

/** Turns what must not be in a log into what can be searched for. */
export type LogHash = (value: string) => string;

export type ObserveAnswer = (request: FastifyRequest, reply: FastifyReply) => void;

const traceparent = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}$/;

function traceIdOf(request: FastifyRequest): string | undefined {
  const { traceparent: header } = request.headers;
  return typeof header === "string" ? traceparent.exec(header)?.[1] : undefined;
}

const refusals = new Set([401, 403, 429]);

/** Hashes with a key: lines of the same caller or address can be found, and nobody can find out whose they are by trying. */
function refusedBy({ ip, caller }: FastifyRequest, logHash: LogHash): RefusedBy {
  return {
    addressHash: logHash(addressCounted(ip)),
    subjectHash: caller && logHash(JSON.stringify([caller.issuer, caller.subject])),
  };
}

/** A log line and a histogram name the route's pattern, never the URL: what a person asked for is nobody's business. */
export function observeRequests(
  server: FastifyInstance,
  { metrics, logger, logHash }: { metrics: Metrics; logger: Logger; logHash: LogHash },
): ObserveAnswer {
  const log = requestLog(logger);
  const observe: ObserveAnswer = (request, reply) => {
    const { method } = request;
    const route = request.routeOptions.url ?? "unknown";
    const milliseconds = reply.elapsedTime;
    const status = reply.statusCode;
    metrics.observeRequest(method, route, status, milliseconds / 1_000);
    const by = refusals.has(status) ? refusedBy(request, logHash) : undefined;
    const { id: requestId, problemCode: code } = request;
    log({ requestId, method, route, status, code, milliseconds, traceId: traceIdOf(request), refusedBy: by });
  };
  server.addHook("onResponse", (request, reply, done) => {
    observe(request, reply);
    done();
  });
  return observe;
}
