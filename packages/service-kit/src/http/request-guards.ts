import type { FastifyInstance, FastifyReply, FastifyRequest, preValidationHookHandler } from "fastify";
import { anyOriginHeaders } from "./any-origin.ts";
import { invalidRequest } from "./invalid-request.ts";
import { escapePointerSegment, Problem } from "./problem.ts";
import { standardProblems } from "./standard-problems.ts";

export const securityHeaders = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "strict-transport-security": "max-age=31536000; includeSubDomains",
  "x-content-type-options": "nosniff",
};

const forAnyOrigin = { ...securityHeaders, ...anyOriginHeaders };

export function setStandardHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.headers(request.routeOptions.config.anyOrigin === true ? forAnyOrigin : securityHeaders);
  reply.header("x-request-id", request.id);
}

/** Sets `no-store`, because responses depend on the caller and must not be shared by caches. */
export function disableCaching(scope: FastifyInstance): void {
  scope.addHook("onRequest", (_request, reply, next) => {
    reply.header("cache-control", "no-store");
    next();
  });
}

/**
 * Returns the JSON Pointer of the first NUL, the only character that PostgreSQL's text can't store. It recurses, so the
 * value's depth must be bounded: `registerJsonParser` refuses bodies that nest too deep.
 */
export function findNul(value: unknown, name: string): string | undefined {
  const pointer = `/${escapePointerSegment(name)}`;
  if (typeof value === "string") return value.includes("\0") ? pointer : undefined;
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return undefined;
  for (const [key, each] of Object.entries(value)) {
    if (key.includes("\0")) return pointer;
    const below = findNul(each, key);
    if (below !== undefined) return pointer + below;
  }
  return undefined;
}

const methodsWithoutBody = new Set(["GET", "HEAD", "OPTIONS"]);

const refuseNulInBody: preValidationHookHandler = (request, _reply, next) => {
  const pointer = request.body === undefined ? undefined : findNul(request.body, "body");
  next(pointer === undefined ? undefined : invalidRequest(pointer, "contains a NUL character, which is never valid"));
};

export function registerRequestGuards(server: FastifyInstance, urlBytes: number): void {
  server.addHook("onRequest", (request, reply, next) => {
    setStandardHeaders(request, reply);
    const { url = "", headers, httpVersion } = request.raw;
    if (url.length > urlBytes) {
      next(new Problem(standardProblems.uriTooLong, `The URL has ${url.length} bytes; the limit is ${urlBytes}.`));
    } else if (url.includes("%00")) {
      const inQuery = url.indexOf("?") !== -1 && url.indexOf("?") < url.lastIndexOf("%00");
      next(invalidRequest(inQuery ? "/query" : "/path", "contains a NUL character (%00), which is never valid"));
    } else if (headers.host === undefined && httpVersion === "1.1") {
      next(invalidRequest("/headers/host", "is required"));
    } else {
      next();
    }
  });

  server.addHook("onRoute", (route) => {
    if ([route.method].flat().every((method) => methodsWithoutBody.has(method))) return;
    route.preValidation = [refuseNulInBody, ...[route.preValidation ?? []].flat()];
  });
}
