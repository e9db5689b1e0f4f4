import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { isDatabaseUnavailable } from "../database/database-unavailable.ts";
import { anyOriginHeaders } from "./any-origin.ts";
import { acceptsHtml } from "./html-page.ts";
import { invalidRequest, schemaViolations } from "./invalid-request.ts";
import { acceptedMediaType } from "./json-parser.ts";
import { isHealthCheck } from "./operations-routes.ts";
import { type ErrorShape, Problem } from "./problem.ts";
import type { RouteTable } from "./route-table.ts";
import { standardProblems } from "./standard-problems.ts";
import { withoutTrailingSlash } from "./trailing-slash.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The media types of the body, comma-separated, where they aren't JSON. */
    acceptedMediaTypes?: string;
  }
  interface FastifyRequest {
    /** The code of the problem response, for the request log. */
    problemCode: string | undefined;
  }
}

const parts: Record<string, string> = { querystring: "query", params: "path", headers: "headers", body: "body" };

function fromValidation(error: Partial<FastifyError>, request: FastifyRequest): Problem {
  const part = parts[error.validationContext ?? "body"] ?? "body";
  if (part === "body" && request.body === undefined) return invalidRequest("/body", "is required; send a JSON object");
  return schemaViolations(part, error.validation ?? []);
}

/** SQLSTATE codes of a transaction that PostgreSQL has rolled back because of another one, and that would succeed if it were repeated. */
const conflictCodes = new Set<unknown>(["40001", "40P01"]);

/** Accepts any thrown value: some libraries reject with undefined. */
function toProblem(error: Partial<FastifyError> | null | undefined, request: FastifyRequest): Problem {
  if (error instanceof Problem) return error;
  if (error?.validation !== undefined) return fromValidation(error, request);
  if (error instanceof Error && request.raw.errored === error) {
    return new Problem(standardProblems.invalidRequest, "The connection closed before the whole body was received.");
  }
  if (isDatabaseUnavailable(error)) {
    const detail = "The database is unavailable or too slow.";
    return new Problem(standardProblems.unavailable, detail, { headers: { "retry-after": "2" }, cause: error });
  }
  if (conflictCodes.has(error?.code)) {
    const detail = "The request conflicted with another one. Nothing was changed.";
    return new Problem(standardProblems.unavailable, detail, { headers: { "retry-after": "1" }, cause: error });
  }
  switch (error?.statusCode) {
    case 400:
      return new Problem(standardProblems.invalidRequest, badRequestDetail(error?.code));
    case 413:
      return new Problem(
        standardProblems.payloadTooLarge,
        `The body is larger than ${describeBytes(request.routeOptions.bodyLimit)}, the limit of this route.`,
      );
    case 415: {
      const accept = request.routeOptions.config.acceptedMediaTypes ?? acceptedMediaType;
      const detail = `${describeContentType(request)}; accepted: ${accept}.`;
      return new Problem(standardProblems.unsupportedMediaType, detail, { headers: { accept } });
    }
    case 429:
      return new Problem(standardProblems.rateLimited, "The limit of requests per minute is exceeded.");
    default:
      return new Problem(standardProblems.internalError, "An unexpected error occurred.", { cause: error });
  }
}

function describeBytes(bytes: number): string {
  return bytes % 1_048_576 === 0 ? `${bytes / 1_048_576} MiB` : `${bytes / 1_024} KiB`;
}

const maxQuotedLength = 100;

function describeContentType({ headers }: FastifyRequest): string {
  const given = headers["content-type"]?.split(";", 1)[0]?.trim() ?? "";
  if (given === "") return "The body has no Content-Type";
  return `The Content-Type of the body, ${JSON.stringify(given.slice(0, maxQuotedLength))}, is not supported`;
}

function badRequestDetail(code: string | undefined): string {
  switch (code) {
    case "FST_ERR_BAD_URL":
      return "The path is invalid: percent-encoded bytes must be valid UTF-8.";
    default:
      return "The body is not valid JSON.";
  }
}

function send(request: FastifyRequest, reply: FastifyReply, problem: Problem, shape: ErrorShape): void {
  const { code, status } = problem.kind;
  request.problemCode = code;
  const isNotReady = status === 503 && isHealthCheck(request.routeOptions.url);
  if (status >= 500 && !isNotReady)
    request.log.error({ requestId: request.id, code, err: problem.cause ?? problem }, "failed to process a request");
  void reply.code(status).headers({ "cache-control": "no-store", ...problem.headers });
  if (shape.page !== undefined) {
    reply.header("vary", "accept");
    if (acceptsHtml(request)) {
      void reply.headers(shape.page.headers).send(Buffer.from(shape.page.write(problem, request.id)));
      return;
    }
  }
  void reply
    .type(shape.mediaType)
    // Sent as bytes to bypass the route's response schema, and because Fastify would add a charset, which this media type lacks.
    .send(Buffer.from(shape.write(problem, request.id)));
}

export function registerProblemHandler(server: FastifyInstance, shape: ErrorShape, routes: RouteTable): void {
  server.decorateRequest("problemCode", undefined);
  server.setErrorHandler<FastifyError>((error, request, reply) =>
    send(request, reply, toProblem(error, request), shape),
  );

  // Pages of any origin may read it, so that a wrong path doesn't look like a CORS failure; it says only that there is no such route.
  const createRoutingProblem = (request: FastifyRequest): Problem => {
    const path = request.raw.url?.split("?", 1)[0] ?? "";
    const shorter = withoutTrailingSlash(path);
    if (shorter !== undefined && routes.methodsOf(shorter).includes(request.method)) {
      const detail = "No route matches the path. Send the request to the path without the slash at its end.";
      return new Problem(standardProblems.notFound, detail, { headers: anyOriginHeaders });
    }
    const allowed = routes.methodsOf(path);
    // A handler may call the not-found handler itself: then its method is allowed, and the response is still a 404.
    if (allowed.length === 0 || allowed.includes(request.method)) {
      return new Problem(standardProblems.notFound, "No route matches the path.", { headers: anyOriginHeaders });
    }
    const allow = allowed.toSorted().join(", ");
    const detail = `${request.method} is not allowed for this path; allowed: ${allow}.`;
    return new Problem(standardProblems.methodNotAllowed, detail, { headers: { ...anyOriginHeaders, allow } });
  };
  server.setNotFoundHandler((request) => {
    throw createRoutingProblem(request);
  });
  // Runs before the body is parsed: without a route, errors in the body don't matter.
  server.addHook("onRequest", (request, _reply, next) =>
    next(request.is404 ? createRoutingProblem(request) : undefined),
  );
}
