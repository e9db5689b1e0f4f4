import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { problemDocument } from "@ehr-marketplace/contracts";
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from "fastify";
import type { Logger } from "../telemetry/logger.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Tracing } from "../telemetry/tracing.ts";
import { type AccessOptions, controlAccess } from "./access.ts";
import { answerProblems } from "./answer-problems.ts";
import { guardAnswer, guardRequests } from "./guard-requests.ts";
import { type LogHash, observeRequests } from "./observe-requests.ts";
import { operationsRoutes, type Readiness } from "./operations-routes.ts";
import { type ErrorShape, type ProblemKind, problemShape } from "./problem.ts";
import { problemRoutes } from "./problem-routes.ts";
import { readJson } from "./read-json.ts";
import { refuseByParser } from "./refuse-by-parser.ts";
import { shedLoad } from "./shed-load.ts";
import { standardProblems } from "./standard-problems.ts";
import { strictValidation } from "./validate-strictly.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The handler waits for nothing but the database, whose own time-outs are shorter than a request's. */
    waitsOnlyForDatabase?: boolean;
  }
}

export interface ServerOptions {
  logger: Logger;
  metrics: Metrics;
  tracing: Tracing;
  metricsToken: string | undefined;
  trustedProxies: string[];
  limits: { urlBytes: number; requestMs: number; eventLoopDelayMs: number };
  readiness: Readiness;
  /** Every kind of error that this service adds to the standard ones, each with a page of its own. */
  problems?: ProblemKind[];
  /** Problem documents, unless the service's contract says otherwise: then there are no pages about kinds of them either. */
  errorShape?: ErrorShape;
  access: AccessOptions;
  logHash: LogHash;
}

/** A route whose schema needs more sets a `bodyLimit` of its own. */
const defaultBodyBytes = 16_384;

const acceptableRequestId = /^[\w.-]{1,64}$/;

function requestIdOf(request: IncomingMessage): string {
  const given = request.headers["x-request-id"];
  return typeof given === "string" && acceptableRequestId.test(given) ? given : randomUUID();
}

export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const { limits, errorShape = problemShape } = options;
  const loggerInstance: FastifyBaseLogger = options.logger;
  const server = Fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    // A logger for each request would cost more than the few lines that are ever written with it: they name its id.
    childLoggerFactory: (logger) => logger,
    genReqId: requestIdOf,
    trustProxy: options.trustedProxies.length === 0 ? false : options.trustedProxies,
    bodyLimit: defaultBodyBytes,
    requestTimeout: limits.requestMs,
    http: {
      headersTimeout: limits.requestMs,
      connectionsCheckingInterval: 1_000,
      // The guard refuses a request without Host in the shape of a problem; Node would send a bare status.
      requireHostHeader: false,
    },
    schemaController: strictValidation,
    // The guard refuses long URLs; the router, with a limit of its own below the parser's, would get there first.
    routerOptions: { maxParamLength: 16_384 },
    return503OnClosing: false,
    clientErrorHandler: refuseByParser({ ...options, urlBytes: limits.urlBytes, shape: errorShape }),
    // Such an answer passes no hook.
    frameworkErrors: (error, request, reply) => {
      guardAnswer(request, reply);
      reply.raw.once("finish", () => observe(request, reply));
      reply.server.errorHandler(error, request, reply);
    },
  });
  readJson(server);
  // An expectation that Node doesn't know is ignored; Node would refuse it with a bare status.
  server.server.on("checkExpectation", (request, response) => server.routing(request, response));

  server.addHook("onRoute", (route) => {
    // A timer for each request is saved where only the database is waited for: its own time-outs come sooner.
    if (route.config?.waitsOnlyForDatabase !== true) route.handlerTimeout ??= limits.requestMs;
  });
  await options.tracing.instrument(server);
  guardRequests(server, limits.urlBytes);
  const observe = observeRequests(server, options);
  answerProblems(server, errorShape);
  await shedLoad(server, limits.eventLoopDelayMs);
  controlAccess(server, options.access);
  operationsRoutes(server, options);
  if (errorShape === problemShape) {
    server.addSchema(problemDocument);
    problemRoutes(server, [...Object.values(standardProblems), ...(options.problems ?? [])]);
  }
  return server;
}
