import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Problem } from "./problem.ts";
import { standardProblems } from "./standard-problems.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** How long a request to the route may take, where the server's limit is too short for its files. */
    timeoutMs?: number;
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
 * `handlerTimeout` doesn't: it stops once the body is read. Node has one limit for receiving requests, which becomes that of the
 * slowest route.
 */
export function limitRequestTime(server: FastifyInstance, requestMs: number): void {
  server.addHook("onRoute", ({ config }) => {
    server.server.requestTimeout = Math.max(server.server.requestTimeout, config?.timeoutMs ?? 0);
  });
  server.addHook("onRequest", (request, reply, next) => {
    const timeoutMs = Math.max(requestMs, request.routeOptions.config.timeoutMs ?? 0);
    const timer = setTimeout(endRequest, timeoutMs, request, reply);
    reply.raw.once("close", () => clearTimeout(timer));
    next();
  });
}
