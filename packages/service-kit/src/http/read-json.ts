import { errorCodes, type FastifyInstance, type preValidationHookHandler } from "fastify";
import { invalidRequest } from "./invalid-request.ts";
import { nestsTooDeep, tooDeep } from "./json-depth.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** A request without a body is the same as one with `{}`: all fields of the body are optional. */
    bodyMayBeOmitted?: boolean;
  }
}

/** JSON is read and nothing else. An empty body is no body, whatever type the client announced for it. */
export function readJson(server: FastifyInstance): void {
  server.removeContentTypeParser("text/plain");
  const parse = server.getDefaultJsonParser("error", "error");
  server.addContentTypeParser("application/json", { parseAs: "string" }, (request, body, done) => {
    const text = body as string;
    if (text === "") done(null, undefined);
    else if (nestsTooDeep(text)) done(invalidRequest("/body", tooDeep));
    else void parse(request, text, done);
  });
  server.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => {
    done(body.length === 0 ? null : errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE(), undefined);
  });
  // Fastify refuses a type that it can't parse, such as `Content-Type: x`, before any parser sees the body.
  server.addHook("onRequest", (request, _reply, next) => {
    if (request.headers["content-length"] === "0") delete request.headers["content-type"];
    next();
  });
  server.addHook("preValidation", (request, _reply, next) => {
    if (request.body === undefined && request.routeOptions.config.bodyMayBeOmitted === true) request.body = {};
    next();
  });
}

/** For a route that reads no body: refuses one that has content, because the client meant something by it. */
export const takesNoBody: preValidationHookHandler = (request, _reply, next) => {
  const { body } = request;
  const isEmptyObject = typeof body === "object" && body !== null && Object.keys(body).length === 0;
  // The same request with and without `{}` is the same to `Idempotency-Key`.
  if (isEmptyObject) request.body = undefined;
  const isEmpty = body === undefined || isEmptyObject;
  next(isEmpty ? undefined : invalidRequest("/body", "must be left out: nothing of it is read here"));
};
