import type {
  FastifyError,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifySchemaValidationError,
} from "fastify";
import FindMyWay, { type HTTPMethod } from "find-my-way";
import { isDatabaseAway } from "../database/database-away.ts";
import { invalidInputs, invalidRequest } from "./invalid-request.ts";
import { type ErrorShape, escapedForPointer, type InvalidInput, Problem } from "./problem.ts";
import { standardProblems } from "./standard-problems.ts";
import { validationDetail } from "./validation-detail.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Of the problem that answered it, for the log. */
    problemCode: string | undefined;
  }
}

const parts: Record<string, string> = { querystring: "query", params: "path", headers: "headers", body: "body" };

function invalidInput(part: string, error: FastifySchemaValidationError): InvalidInput {
  const { missingProperty, additionalProperty } = error.params as Record<string, string | undefined>;
  const leaf = missingProperty ?? additionalProperty;
  const pointer = `/${part}${error.instancePath}${leaf === undefined ? "" : `/${escapedForPointer(leaf)}`}`;
  return { pointer, detail: validationDetail(error) };
}

function fromValidation(error: Partial<FastifyError>, request: FastifyRequest): Problem {
  const part = parts[error.validationContext ?? "body"] ?? "body";
  if (part === "body" && request.body === undefined) return invalidRequest("/body", "is missing; send a JSON object");
  return invalidInputs((error.validation ?? []).map((each) => invalidInput(part, each)));
}

/** Whatever was thrown: libraries also reject with nothing at all. */
function toProblem(error: Partial<FastifyError> | null | undefined, request: FastifyRequest): Problem {
  if (error instanceof Problem) return error;
  if (error?.validation !== undefined) return fromValidation(error, request);
  if (error instanceof Error && request.raw.errored === error) {
    return new Problem(standardProblems.invalidRequest, "The connection ended before the whole body was here.");
  }
  if (isDatabaseAway(error)) {
    const detail = "The database can't be reached or answers too slowly.";
    return new Problem(standardProblems.unavailable, detail, { headers: { "retry-after": "2" }, cause: error });
  }
  if (error?.code === "FST_ERR_HANDLER_TIMEOUT") {
    if (!request.raw.complete) {
      const { requestTimeout } = standardProblems;
      return new Problem(requestTimeout, requestTimeout.advice, { headers: { connection: "close" } });
    }
    const detail = "The answer took too long to make.";
    return new Problem(standardProblems.unavailable, detail, { headers: { "retry-after": "2" }, cause: error });
  }
  switch (error?.statusCode) {
    case 400:
      return new Problem(standardProblems.invalidRequest, badRequestDetail(error?.code));
    case 413:
      return new Problem(
        standardProblems.payloadTooLarge,
        `The body is larger than the ${request.routeOptions.bodyLimit / 1_024} KiB that are read here.`,
      );
    case 415:
      return new Problem(
        standardProblems.unsupportedMediaType,
        "The body's Content-Type is not one that is read here.",
      );
    case 429:
      return new Problem(standardProblems.rateLimited, "More requests came from here than are served in a minute.");
    default:
      return new Problem(standardProblems.internalError, "Something went wrong on our side.", { cause: error });
  }
}

function badRequestDetail(code: string | undefined): string {
  switch (code) {
    case "FST_ERR_BAD_URL":
      return "The path is not valid: a percent sign must be followed by two hexadecimal digits that make up UTF-8.";
    default:
      return "The body is not valid JSON.";
  }
}

function send(request: FastifyRequest, reply: FastifyReply, problem: Problem, shape: ErrorShape): void {
  request.problemCode = problem.kind.code;
  if (problem.kind.status >= 500)
    request.log.error({ requestId: request.id, err: problem.cause ?? problem }, problem.kind.code);
  void reply
    .code(problem.kind.status)
    .headers({ "cache-control": "no-store", ...problem.headers })
    .type(shape.mediaType)
    // Bytes go past the route's response schema, and past Fastify's wish to add a charset that this type doesn't have.
    .send(Buffer.from(shape.write(problem, request.id)));
}

export function answerProblems(server: FastifyInstance, shape: ErrorShape): void {
  server.decorateRequest("problemCode", undefined);
  server.setErrorHandler<FastifyError>((error, request, reply) =>
    send(request, reply, toProblem(error, request), shape),
  );

  const routes = FindMyWay({ ignoreTrailingSlash: false, maxParamLength: Number.MAX_SAFE_INTEGER });
  const methods = new Set<HTTPMethod>();
  server.addHook("onRoute", (route) => {
    // A wildcard stands for no resource: it answers preflight requests, or serves files, whatever the path.
    if (route.url.endsWith("*")) return;
    for (const method of [route.method].flat() as HTTPMethod[]) {
      methods.add(method);
      routes.on(method, route.url, () => undefined);
    }
  });

  const unrouted = (request: FastifyRequest): Problem => {
    const path = request.raw.url?.split("?", 1)[0] ?? "";
    const allowed = [...methods].filter((method) => routes.find(method, path) !== null);
    // A route may say itself that it found nothing: then its method is allowed, and the path leads nowhere all the same.
    if (allowed.length === 0 || allowed.some((method) => method === request.method)) {
      return new Problem(standardProblems.notFound, "No route of this service has that path.");
    }
    const allow = allowed.toSorted().join(", ");
    const detail = `${request.method} is not allowed here; allowed: ${allow}.`;
    return new Problem(standardProblems.methodNotAllowed, detail, { headers: { allow } });
  };
  server.setNotFoundHandler((request) => {
    throw unrouted(request);
  });
  // Before the body is parsed: what is wrong with it doesn't matter where nothing would read it.
  server.addHook("onRequest", (request, _reply, next) => next(request.is404 ? unrouted(request) : undefined));
}
