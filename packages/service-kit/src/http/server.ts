import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { problemDocument } from "@ehr-marketplace/contracts";
import rateLimit from "@fastify/rate-limit";
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from "fastify";
import type { Logger } from "../telemetry/logger.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Tracing } from "../telemetry/tracing.ts";
import { type AccessOptions, controlAccess } from "./access.ts";
import { type About, indexRoutes } from "./index-routes.ts";
import { registerJsonParser } from "./json-parser.ts";
import { type LogHash, observeRequests } from "./observe-requests.ts";
import { operationsRoutes, type ReadinessCheck } from "./operations-routes.ts";
import { createParserErrorHandler } from "./parser-error-handler.ts";
import { type ErrorShape, type ProblemKind, problemMediaType, problemShape } from "./problem.ts";
import { registerProblemHandler } from "./problem-handler.ts";
import { problemRoutes } from "./problem-routes.ts";
import { registerRequestGuards, setStandardHeaders } from "./request-guards.ts";
import { createRouteTable } from "./route-table.ts";
import { limitRequestTime } from "./route-timeouts.ts";
import { createSchemaCompilers } from "./schema-compilers.ts";
import { shedLoad } from "./shed-load.ts";
import { standardProblems } from "./standard-problems.ts";
import { redirectTrailingSlashes } from "./trailing-slash.ts";

export interface ServerOptions {
  /** Undefined: the service has a page of its own at `/`. */
  about: About | undefined;
  logger: Logger;
  metrics: Metrics;
  tracing: Tracing;
  metricsToken: string | undefined;
  trustedProxies: string[];
  limits: { urlBytes: number; requestMs: number; eventLoopDelayMs: number };
  readiness: ReadinessCheck;
  /** The kinds of error that this service adds to the standard ones; each gets a documentation page. */
  problems?: ProblemKind[];
  /** Problem documents by default. With another shape, the pages about kinds of problems aren't served. */
  errorShape?: ErrorShape;
  /** Without it no route may require a token. */
  access?: AccessOptions | undefined;
  logHash: LogHash;
}

/** Routes that need larger bodies set their own `bodyLimit`. */
const defaultBodyBytes = 16_384;

const acceptableRequestId = /^[\w.-]{1,64}$/;

function getRequestId(request: IncomingMessage): string {
  const given = request.headers["x-request-id"];
  return typeof given === "string" && acceptableRequestId.test(given) ? given : randomUUID();
}

export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const { limits, errorShape = problemShape } = options;
  const schemas = createSchemaCompilers();
  const loggerInstance: FastifyBaseLogger = options.logger;
  const server = Fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    // No child logger per request: creating one costs more than the few lines logged with it, which include the request id.
    childLoggerFactory: (logger) => logger,
    genReqId: getRequestId,
    trustProxy: options.trustedProxies.length === 0 ? false : options.trustedProxies,
    bodyLimit: defaultBodyBytes,
    requestTimeout: limits.requestMs,
    http: {
      // Node requires that the time for the headers is within that for the request, which Fastify sets later.
      requestTimeout: limits.requestMs,
      headersTimeout: limits.requestMs,
      connectionsCheckingInterval: 1_000,
      // The request guard refuses requests without Host with a problem response; Node would send a bare status.
      requireHostHeader: false,
    },
    schemaController: { compilersFactory: schemas.compilersFactory },
    // The request guard refuses long URLs; the router's default limit is lower and would apply first.
    routerOptions: { maxParamLength: 16_384 },
    return503OnClosing: false,
    clientErrorHandler: createParserErrorHandler({ ...options, urlBytes: limits.urlBytes, shape: errorShape }),
    // No hooks run for these responses.
    frameworkErrors: (error, request, reply) => {
      setStandardHeaders(request, reply);
      reply.raw.once("finish", () => observe(request, reply));
      reply.server.errorHandler(error, request, reply);
    },
  });
  server.decorate("compileSchemas", schemas.compileAll);
  registerJsonParser(server);
  // Unknown `Expect` headers are ignored; Node would refuse them with a bare status.
  server.server.on("checkExpectation", (request, response) => server.routing(request, response));

  await options.tracing.instrument(server);
  limitRequestTime(server, limits.requestMs);
  registerRequestGuards(server, limits.urlBytes);
  const observe = observeRequests(server, options);
  const routes = createRouteTable(server);
  redirectTrailingSlashes(server, routes);
  registerProblemHandler(server, errorShape, routes);
  await shedLoad(server, limits.eventLoopDelayMs);
  await server.register(rateLimit, { global: false });
  controlAccess(server, options.access);
  if (options.about !== undefined) indexRoutes(server, options.about);
  operationsRoutes(server, options);
  if (errorShape.mediaType === problemMediaType) {
    server.addSchema(problemDocument);
    problemRoutes(server, [...Object.values(standardProblems), ...(options.problems ?? [])]);
  }
  return server;
}
