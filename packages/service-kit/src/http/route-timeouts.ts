import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Problem } from "./problem.ts";
import { standardProblems } from "./standard-problems.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** How long a request to the route may take, where the server's limit is too short for its files. */
    timeoutMs?: number;
    /** The response is a stream of any length: once it has begun, the limit is for the time in which nothing of it could be sent. */
    isStreamed?: boolean;
  }
}

function createTimeoutProblem({ raw }: FastifyRequest): Problem {
  if (!raw.complete) {
    const { requestTimeout } = standardProblems;
    return new Problem(requestTimeout, requestTimeout.advice, { headers: { connection: "close" } });
  }
  const detail = "The request timed out before a response was ready.";
  return new Problem(standardProblems.unavailable, detail, { headers: { "retry-after": "2" } });
}

function endRequest(request: FastifyRequest, reply: FastifyReply): void {
  if (reply.sent) return;
  const problem = createTimeoutProblem(request);
  // A response whose headers are sent can't become another one.
  if (reply.raw.headersSent) reply.raw.destroy(problem);
  else void reply.send(problem);
}

/**
 * Limits the time of a request from its headers to the end of its response, to `requestMs` or the route's `timeoutMs`. Fastify's
 * `handlerTimeout` doesn't: it stops once the body is read. A streamed response has no limit while it is being sent. Node has one limit
 * for receiving requests, which becomes that of the slowest route.
 */
export function limitRequestTime(server: FastifyInstance, requestMs: number): void {
  server.addHook("onRoute", ({ config }) => {
    server.server.requestTimeout = Math.max(server.server.requestTimeout, config?.timeoutMs ?? 0);
  });
  server.addHook("onRequest", (request, reply, next) => {
    const { timeoutMs: ofRoute = 0, isStreamed = false } = request.routeOptions.config;
    const timeoutMs = Math.max(requestMs, ofRoute);
    let sentBytes = request.raw.socket.bytesWritten;
    const endIdle = (): void => {
      const { bytesWritten } = request.raw.socket;
      const isSending = isStreamed && reply.raw.headersSent && bytesWritten > sentBytes;
      if (!isSending) return endRequest(request, reply);
      sentBytes = bytesWritten;
      timer = setTimeout(endIdle, timeoutMs);
    };
    let timer = setTimeout(endIdle, timeoutMs);
    reply.raw.once("close", () => clearTimeout(timer));
    next();
  });
}
