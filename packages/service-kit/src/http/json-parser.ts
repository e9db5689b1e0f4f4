import { errorCodes, type FastifyInstance, type preValidationHookHandler } from "fastify";
import { decodeUtf8 } from "./decode-utf8.ts";
import { invalidRequest } from "./invalid-request.ts";
import { isNestedTooDeep, tooDeepDetail } from "./json-depth.ts";
import { findSyntaxError } from "./json-syntax-error.ts";
import { Problem } from "./problem.ts";
import { standardProblems } from "./standard-problems.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** A request without a body is treated as one with `{}`, because all fields of the body are optional. */
    bodyMayBeOmitted?: boolean;
  }
}

/** Of the body, unless the route's configuration has another. */
export const acceptedMediaType = "application/json";

/** Accepts JSON only. An empty body counts as no body, whatever its Content-Type. */
export function registerJsonParser(server: FastifyInstance): void {
  server.removeContentTypeParser("text/plain");
  parseAsJson(server, acceptedMediaType);
  server.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => {
    done(body.length === 0 ? null : errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE(), undefined);
  });
  // Fastify refuses a malformed Content-Type such as `x` before any parser runs, so it is removed from requests without a body.
  server.addHook("onRequest", (request, _reply, next) => {
    if (request.headers["content-length"] === "0") delete request.headers["content-type"];
    next();
  });
  server.addHook("preValidation", (request, _reply, next) => {
    if (request.body === undefined && request.routeOptions.config.bodyMayBeOmitted === true) request.body = {};
    next();
  });
}

function invalidJson(text: string): Problem {
  const found = findSyntaxError(text);
  const where = found === undefined ? "" : `; see line ${found.line}, column ${found.column}`;
  return new Problem(standardProblems.invalidRequest, `The body is not valid JSON${where}.`);
}

/** Also accepts the media type of JSON Merge Patch (RFC 7396) in a scope. */
export function acceptMergePatch(scope: FastifyInstance): void {
  parseAsJson(scope, "application/merge-patch+json");
}

function parseAsJson(scope: FastifyInstance, mediaType: string): void {
  const parse = scope.getDefaultJsonParser("error", "error");
  scope.addContentTypeParser(mediaType, { parseAs: "buffer" }, (request, body, done) => {
    const text = decodeUtf8(body as Buffer);
    if (text === "") done(null, undefined);
    else if (isNestedTooDeep(text)) done(invalidRequest("/body", tooDeepDetail));
    else void parse(request, text, (error, value) => (error === null ? done(null, value) : done(invalidJson(text))));
  });
}

/** For routes without a body: refuses a body with content instead of ignoring it silently. */
export const requireNoBody: preValidationHookHandler = (request, _reply, next) => {
  const { body } = request;
  const isEmptyObject = typeof body === "object" && body !== null && Object.keys(body).length === 0;
  // With and without `{}` the request must be the same for `Idempotency-Key`.
  if (isEmptyObject) request.body = undefined;
  const isEmpty = body === undefined || isEmptyObject;
  next(isEmpty ? undefined : invalidRequest("/body", "must be omitted: this route takes no body"));
};
